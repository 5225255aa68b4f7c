import { afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSystem } from "../../../src";
import { connectCluster } from "../../../src/nats";
import { ids, Orders } from "../durable/nodes";
import { asNumbered, checkDeliveries, type DeliveryEvent, sentAll } from "../faults/deliveries";
import { Slow } from "../programs/protocols";
import { hasNats, server } from "../rooms";

const isLong = process.env["ENVOI_LONG"] !== undefined;
/** Of 30 kB each: more than the server and the sockets hold for a client. */
const MESSAGES = 2_000;
const FILLING = "x".repeat(30_000);
const TURN = 10;
const DURABLE = 200;

interface Line {
  readonly kind?: string;
  readonly put?: number;
  readonly take?: number;
  readonly order?: string;
  readonly isMarked?: boolean;
}

let folder: string | undefined;
let child: Bun.Subprocess<"pipe", "pipe", "inherit"> | undefined;
afterEach(async () => {
  child?.kill("SIGKILL");
  await child?.exited;
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

describe.skipIf(!hasNats || !isLong)("a node that takes messages slower than they come", () => {
  test("is cut off by its server and told so; what was lost is a gap or a timeout, what comes is in order, and nothing durable is lost", async () => {
    const { url } = await server({ config: "max_pending: 1MB\nmax_payload: 256KB" });
    folder = mkdtempSync(join(tmpdir(), "envoi-slow-"));
    const [file, go] = [join(folder, "lines"), join(folder, "go")];
    const program = join(import.meta.dir, "..", "programs", "slow-node.ts");
    child = Bun.spawn([process.execPath, program, url, file, go], { stdio: ["pipe", "pipe", "inherit"] });
    await child.stdout.getReader().read(); // It is ready.
    const system = createSystem({ hookTimeout: 60_000, logger: { warn() {}, error() {} } });
    const cluster = await connectCluster(system, { servers: url, name: "slow", node: "fast" });
    const log = cluster.remote("slow", "log", Slow);
    const orders = cluster.durable("orders", Orders);
    const stored = ids(DURABLE).map((id) => orders.tell("place", { id }, { timeout: 60_000 }));
    const outcomes = new Map<number, Promise<string>>();
    for (let number = 0; number < MESSAGES; number++) {
      if (number % 2 === 0) log.tell("put", { number, filling: FILLING });
      else {
        const asked = log.ask("take", { number, filling: FILLING }, { timeout: 60_000 });
        outcomes.set(
          number,
          asked.then((result) => (result.isOk() ? "ok" : result.error.kind)),
        );
      }
      if (number % TURN === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    // The server has all of them by now, and has cut the node off.
    expect((await orders.tell("place", { id: `o-${DURABLE}` }, { timeout: 60_000 })).isOk()).toBe(true);
    await Bun.write(go, "");
    const ended = new Map<number, string>();
    for (const [number, outcome] of outcomes) ended.set(number, await outcome);
    expect((await Promise.all(stored)).every((each) => each.isOk())).toBe(true);
    // It is asked until it answers: by then it has taken all that was before.
    while ((await log.ask("take", { number: MESSAGES, filling: "" }, { timeout: 60_000 })).isErr()) {}
    const lines = (): Line[] =>
      readFileSync(file, "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
    while (!lines().some(({ order }) => order === `o-${DURABLE}`)) await log.ask("take", { number: -1, filling: "" });
    const seen = lines();
    const told = new Set(seen.map(({ kind }) => kind));
    expect(told).toContain("nats:disconnected");
    const numbers = seen.map(({ put, take }) => put ?? take ?? -1).filter((number) => number >= 0 && number < MESSAGES);
    expect(numbers).toEqual([...new Set(numbers)].sort((one, other) => one - other));
    const taken = new Set(numbers);
    expect(taken.size).toBeLessThan(MESSAGES);
    // A round that its sender began anew, because a text came to nobody, ends the asks in it as timeout, and has no gap.
    expect(told.has("nats:gap") || told.has("nats:gone") || [...ended.values()].includes("timeout")).toBe(true);
    for (const [number, outcome] of ended) {
      if (outcome === "ok") expect(taken).toContain(number);
      else if (outcome === "unreachable") expect(taken).not.toContain(number);
      else expect(outcome).toBe("timeout");
    }
    const events = seen
      .filter(({ order }) => order !== undefined)
      .map(({ order = "", isMarked = false }): DeliveryEvent => ({ kind: "handled", isMarked, ...asNumbered(order) }));
    expect(checkDeliveries([...sentAll(ids(DURABLE + 1)), ...events])).toEqual([]);
    await system.shutdown();
    child.stdin.end();
    await child.exited;
  }, 300_000);
});
