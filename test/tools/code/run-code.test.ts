import { expect, test } from "bun:test";
import { createSystem } from "../../../src";
import { createManualClock, createTestSystem } from "../../../src/testing";
import { runCode, spawnCodeExecution } from "../../../src/tools";
import { withCode } from "./tiers";

const forever = { code: "console.log('begun'); await new Promise(() => {})" };

test("runCode gives the value, or the error, whether the code or the way there is the reason", async () => {
  await withCode({ isolation: "trusted" }, async (_, code) => {
    const ran = await runCode(code, { code: "input + 1", input: 1 });
    expect(ran.isOk() && ran.value).toMatchObject({ value: 2, logs: [], isolation: "trusted" });
    expect((await runCode(code, { code: "throw 1" }))._unsafeUnwrapErr().kind).toBe("runtime-error");
    const wrong = { code: 1 } as unknown as { code: string };
    expect((await runCode(code, wrong))._unsafeUnwrapErr().kind).toBe("invalid-payload");
  });
});

test("runCode waits for as long as a run may take, so that the run's own end is told, with its logs", async () => {
  const clock = createManualClock();
  await using system = createSystem({ clock });
  const code = spawnCodeExecution(system, { isolation: "trusted" });
  await Promise.all([import("acorn"), import("@sveltejs/acorn-typescript")]);
  const running = runCode(code, forever);
  const asked = code.ask("execute", forever);
  await clock.settle();
  await clock.advance(6_000);
  expect((await running)._unsafeUnwrapErr()).toMatchObject({ kind: "timeout", logs: [{ text: "begun" }] });
  expect((await asked).isErr()).toBe(true); // Which is why it is there.
});

test("runCode gives up when it is told to, and when its actor stops", async () => {
  await withCode({ isolation: "trusted", timeout: 60_000 }, async (_, code) => {
    const giving = runCode(code, forever, { signal: AbortSignal.abort() });
    expect((await giving)._unsafeUnwrapErr().kind).toBe("cancelled");
    expect((await runCode(code, forever, { timeout: 5 }))._unsafeUnwrapErr().kind).toBe("timeout");
  });
  const system = createSystem();
  const code = spawnCodeExecution(system, { isolation: "trusted" });
  await system.shutdown();
  expect((await runCode(code, forever))._unsafeUnwrapErr().kind).toBe("stopped");
});

test("a code actor ends with its processes at the end of a test on a clock that stands still", async () => {
  await using test = createTestSystem();
  const code = spawnCodeExecution(test.system);
  const ran = await runCode(code, { code: "1 + 1" });
  expect(ran.isOk() && ran.value.value).toBe(2);
});
