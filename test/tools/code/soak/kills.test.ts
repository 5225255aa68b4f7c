import { describe, expect, test } from "bun:test";
import { createSystem, defineProtocol, Type } from "../../../../src";
import type { CodeError } from "../../../../src/tools/code/code-error";
import { spawnCodeExecution } from "../../../../src/tools/code/code-execution";
import { processes } from "../attacks/host";
import { isOffered } from "../process/kit";
import { inspectionOf } from "../tiers";

/** Milliseconds during which processes are killed at random. */
const DURATION = process.env["ENVOI_LONG"] ? 60_000 : 2_500;
/** Milliseconds between two kills, at most. */
const PAUSE = 150;
const SIZE = 2;
const ASKERS = 6;

const Counter = defineProtocol("counter", { add: { payload: Type.Integer(), reply: Type.Integer() } });
/** A pool whose processes are killed faster than they start says that none can. */
const LOST: ReadonlySet<CodeError["kind"]> = new Set(["crashed", "unavailable"]);
const BODY =
  "let n = 0; for (let i = 0; i < 2e4; i++) n += i % 3; console.log(input); await tools.counter.add(1); [n, input]";

describe.each(["sandbox", "process"] as const)("Processes of %s that are killed at random, under load", (isolation) => {
  test.if(isolation === "sandbox" || isOffered)(
    "leave each ask settled once, each loss told, and a pool that recovers",
    async () => {
      const system = createSystem({ askTimeout: 120_000, logger: { warn() {}, error() {} } });
      const before = processes();
      const mine = () => processes().filter((pid) => !before.includes(pid));
      let added = 0;
      const counter = system.spawn("counter", Counter, () => ({ add: (by) => (added += by) }), { concurrency: 100 });
      const code = spawnCodeExecution(system, { isolation, concurrency: SIZE, timeout: 20_000, tools: { counter } });
      const until = performance.now() + DURATION;
      const isOver = () => performance.now() > until;
      const pause = (most: number) => new Promise((go) => setTimeout(go, Math.random() * most));
      const counts = { asked: 0, settled: 0, values: 0, lost: 0, sessions: 0, losses: 0, streams: 0, kills: 0 };

      const ask = async (): Promise<void> => {
        for (let input = 0; !isOver(); input++) {
          counts.asked++;
          const answer = (await code.ask("execute", { code: BODY, input }))._unsafeUnwrap();
          counts.settled++;
          if (answer.ok) {
            expect(answer.value).toMatchObject({ value: [19_999, input], logs: [{ text: `${input}` }] });
            counts.values++;
          } else {
            expect(LOST).toContain(answer.error.kind);
            counts.lost++;
          }
        }
      };
      /** A session's count goes on, or each use of the session reports its loss until the session is left. */
      const keep = async (): Promise<void> => {
        while (!isOver()) {
          const opened = (await code.ask("session", {}))._unsafeUnwrap();
          if (!opened.ok) throw new Error(opened.error.message);
          const { session } = opened.value;
          counts.sessions++;
          for (let count = 1; !isOver(); count++) {
            const answer = (
              await code.ask("execute", { code: "var n = (typeof n === 'number' ? n : 0) + 1; n", session })
            )._unsafeUnwrap();
            if (answer.ok) {
              expect(answer.value.value).toBe(count);
              await pause(5);
              continue;
            }
            expect(LOST).toContain(answer.error.kind);
            counts.losses++;
            const again = (await code.ask("execute", { code: "1", session }))._unsafeUnwrap();
            expect(again).toMatchObject({ ok: false, error: { kind: "unavailable" } });
            break;
          }
          await code.ask("endSession", { session });
        }
      };
      const read = async (): Promise<void> => {
        for (let input = 0; !isOver(); input++) {
          let ends = 0;
          for await (const item of code.stream("executeStream", {
            code: "progress(input); console.log(input); input",
            input,
          })) {
            expect(ends).toBe(0);
            if (item.kind === "end") ends++;
            if (item.kind === "end" && item.outcome.ok) expect(item.outcome.value.value).toBe(input);
          }
          expect(ends).toBe(1);
          counts.streams++;
        }
      };
      const kill = async (): Promise<void> => {
        while (!isOver()) {
          await pause(PAUSE);
          const pids = mine();
          const pid = pids[Math.floor(Math.random() * pids.length)];
          if (pid === undefined) continue;
          process.kill(pid, "SIGKILL");
          counts.kills++;
        }
      };
      await Promise.all([...Array.from({ length: ASKERS }, ask), keep(), read(), kill()]);

      expect(counts.settled).toBe(counts.asked);
      expect(counts.values + counts.lost).toBe(counts.settled);
      // Else this has tested nothing.
      expect(Math.min(counts.kills, counts.sessions, counts.values, counts.streams)).toBeGreaterThan(0);
      // A run that was counted was run; one that was lost may have been.
      expect(added).toBeGreaterThanOrEqual(counts.values);
      const after = await Promise.all(
        Array.from({ length: 20 }, async (_, input) =>
          (await code.ask("execute", { code: "input", input }))._unsafeUnwrap(),
        ),
      );
      expect(after.map((answer) => answer.ok && answer.value.value)).toEqual(
        Array.from({ length: 20 }, (_, input) => input),
      );
      const isWhole = async () => {
        const { tiers, sessions, held } = await inspectionOf(code);
        return (
          sessions === 0 && held === 0 && tiers.every((tier) => tier.idle === SIZE && tier.running + tier.waiting === 0)
        );
      };
      while (!(await isWhole())) await new Promise((go) => setImmediate(go));
      expect(mine().length).toBe(SIZE);
      await system.shutdown();
      expect(mine()).toEqual([]);
    },
    DURATION + 60_000,
  );
});
