import { existsSync } from "node:fs";
import type { RefTo } from "../../../src/index";
import { serveWorker, transfer } from "../../../src/workers/index";
import { Kitchen, Log, Reaper } from "./protocols";

/** What it loses is looked for by the tests. */
const SILENT = { logger: { warn: () => undefined, error: () => undefined } };

serveWorker(async (system, worker) => {
  const log: RefTo<typeof Log> = worker.ref("log", Log);
  const away = process.env["AWAY"];
  if (away !== undefined && existsSync(`${away}${worker.index}`)) throw new Error("The cook is away.");
  if (process.env["ASKS_FIRST"] !== undefined) await log.ask("notes"); // What the other side sent at once has come by then.
  const kitchen = system.spawn("kitchen", Kitchen, (ctx) => {
    const order: number[] = [];
    return {
      cook: (what) => what,
      who: () => ({ pid: process.pid, worker: worker.index, data: worker.data ?? null }),
      never(note) {
        log.tell("note", note);
        return new Promise((_, reject) =>
          ctx.onAbort(() => {
            log.tell("note", `${note} given up`);
            reject(ctx.signal.reason);
          }),
        );
      },
      die: (how) => (how === "stop" ? void system.stop(ctx.self) : undefined),
      async *count(to) {
        for (let n = 1; n <= to; n++) yield n;
      },
      watch(other) {
        ctx.watch(other, ({ reason }) => log.tell("note", `watched: ${reason}`));
        ctx.tell(other, "note", "hello");
        return null;
      },
      pad: () => ctx.spawn("pad", Log, () => ({ note() {}, notes: () => [] })),
      order: (n) => void order.push(n),
      ordered: () => order,
      context: () => ({ metadata: ctx.metadata, hasDeadline: ctx.deadline !== undefined }),
      flood(many) {
        for (let n = 0; n < many; n++) log.tell("note", String(n));
        return null;
      },
      grill({ meat, by }) {
        for (const [at, byte] of meat.entries()) meat[at] = byte + by;
        return { meat: transfer(meat) };
      },
      async *slice(meat) {
        for (const byte of meat) yield transfer(Uint8Array.of(byte));
      },
      async slow(ms) {
        log.tell("note", "slow begins");
        await Bun.sleep(ms);
        log.tell("note", "slow ends");
        return null;
      },
    };
  });
  const reaper = system.spawn("reaper", Reaper, () => ({
    die(how) {
      if (how === "exit") process.exit(7);
      if (how === "hang") for (;;);
      if (how === "loop") {
        log.tell("note", String(process.pid));
        setImmediate(() => {
          for (;;); // The note has left.
        });
        return;
      }
      if (how === "exit slowly") {
        log.tell("note", "last words");
        process.on("exit", () => {
          while (!existsSync(process.env["MAY_EXIT"] ?? "")) Bun.sleepSync(1);
        });
        setImmediate(() => process.exit(7));
        return;
      }
      if (how === "stop the kitchen") return void system.stop(kitchen);
      if (how === "pause") return Bun.sleepSync(700);
      setTimeout(() => {
        throw new Error("out of gas");
      }, 0);
    },
  }));
  return { kitchen, reaper };
}, SILENT);
