import { afterAll, describe, expect, test } from "bun:test";
import { createManualClock } from "../../../../src/testing/index";
import type { Run } from "../../../../src/tools/code/tier";
import { children, Desk, poolOf, programIn, runOf, until } from "./kit";

const program = programIn("hostile");
const pool = poolOf({ program });
const run = (body: string, options?: Partial<Run>) => pool.run(runOf(body, options));
afterAll(async () => {
  await pool.dispose();
  expect(children()).toEqual([]);
});

describe("Pool: a process that somebody took over", () => {
  for (const [body, kind] of [
    ["for the next", "crashed"],
    ["ready again", "crashed"],
    ["no JSON", "crashed"],
    ["no news", "crashed"],
    ["no such kind", "crashed"],
    ["no such level", "crashed"],
    ["no text", "crashed"],
    ["a value that is none", "crashed"],
    ["progress that is none", "crashed"],
    ["progress that is too deep", "crashed"],
    ["a call twice", "crashed"],
    ["a call without a number", "crashed"],
    ["a call that is no text", "crashed"],
    ["a call too large", "crashed"],
    ["too many calls", "crashed"],
    ["exit", "crashed"],
    ["kill itself", "crashed"],
    ["speak and kill itself", "crashed"],
    ["fault", "crashed"],
    ["a line without end", "crashed"],
    ["logs without end", "output-limit"],
    ["waits without end", "output-limit"],
    ["a value too large", "output-limit"],
  ] as const) {
    test(`harms its own run only: ${body}`, async () => {
      const ended = await run(body, { maxOutput: 50_000, calls: new Desk() });
      expect(ended.kind).toBe(kind);
      expect(JSON.stringify(ended)).not.toContain("forged");
      expect(await run("honest")).toMatchObject({ kind: "value", value: "1" });
    });
  }

  test("cannot answer the next run before it began", async () => {
    const [first, second] = await Promise.all([run("twice"), run("honest")]);
    expect(first).toMatchObject({ kind: "value", value: "1" });
    expect(JSON.stringify(second)).not.toContain("forged");
  });

  test("P5: that reads no answers is ended, before they pile up in the host", async () => {
    // As many as the socket holds, and a thousand behind them: each has 16 KB.
    const answer = "x".repeat(16_384);
    let made = 0;
    const call = async (): Promise<string> => {
      made++;
      return answer;
    };
    const calls = { tools: "{}", call };
    const ended = await run("calls whose answers it does not read", { calls, timeout: 5_000 });
    expect(ended).toMatchObject({ kind: "crashed", message: expect.stringContaining("without reading their answers") });
    expect(made).toBeLessThan(2_000);
    expect(await run("honest")).toMatchObject({ kind: "value", value: "1" });
  });

  test("makes no calls where its run has none", async () => {
    expect(await run("a call")).toMatchObject({ kind: "crashed" });
  });

  test("may write in pieces of any size", async () => {
    expect(await run("in pieces")).toMatchObject({ kind: "value", value: '"ü"' });
  });

  test("that says nothing is ended in time", async () => {
    expect(await run("silent", { timeout: 20 })).toMatchObject({ kind: "timeout" });
  });

  test("makes no calls any more once its time is up", async () => {
    const clock = createManualClock();
    const own = poolOf({ program, clock });
    const calls = new Desk();
    const told: string[] = [];
    const onLog = ({ text }: { text: string }) => void told.push(text);
    const ended = own.run(runOf("calls when it is to stop", { calls, timeout: 100, onLog }));
    await until(() => told.length === 1);
    await clock.advance(139);
    await until(() => told.length === 2);
    expect(own.inspect().running).toBe(1);
    await clock.advance(1);
    expect(await ended).toMatchObject({ kind: "timeout" });
    expect(calls.made).toEqual([]);
    await own.dispose();
  });

  test("tells nobody anything once its asker gave up, and is spared where it ends", async () => {
    const gate = new AbortController();
    const told: string[] = [];
    const onLog = ({ text }: { text: string }) => {
      told.push(text);
      gate.abort();
    };
    const before = children();
    expect(await run("speaks on when it is to stop", { signal: gate.signal, onLog })).toMatchObject({
      kind: "stopped",
    });
    expect(await run("honest")).toMatchObject({ kind: "value" });
    expect(told).toEqual(["begun"]);
    expect(children()).toEqual(before);
  });

  test("that ends before it is ready is tried again, and told of where that does not help", async () => {
    const broken = poolOf({ program: programIn("there-is-none") });
    expect(await broken.run(runOf("return 1"))).toMatchObject({ kind: "unavailable" });
    expect(await broken.run(runOf("return 1"))).toMatchObject({ kind: "unavailable" });
    await broken.dispose();
  });
});
