import { expect, test } from "bun:test";

/** Runs a program to its end, on the real clock; a program that does not end fails by the time limit of its test. */
async function run(program: string): Promise<{ output: string[]; exitCode: number }> {
  const path = `${import.meta.dir}/programs/${program}.ts`;
  const child = Bun.spawn([process.execPath, path], { stdout: "pipe", stderr: "pipe" });
  const [output, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  expect(errors).toBe("");
  return { output: output.trim().split("\n"), exitCode: child.exitCode ?? -1 };
}

test("P6: a process exits by itself once all asks have settled, whatever their timeouts", async () => {
  expect(await run("answered")).toEqual({ output: ["10000 answered", "exit"], exitCode: 0 });
}, 240_000);

test("P6: a process stays until a pending ask has timed out, and then exits", async () => {
  expect(await run("pending")).toEqual({ output: ["timeout", "exit"], exitCode: 0 });
}, 240_000);

test("P6: a process with idle actors, a router and dead letters exits by itself", async () => {
  expect(await run("idle")).toEqual({ output: ["exit"], exitCode: 0 });
}, 240_000);

test("P13: a process exits by itself after shutdown, with actors or without", async () => {
  expect(await run("shut-down")).toEqual({ output: ["0 unfinished", "0 unfinished", "exit"], exitCode: 0 });
}, 240_000);
