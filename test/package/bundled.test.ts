import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { putAway } from "../../benchmarks/harness/places";
import { installation } from "../../benchmarks/subjects/installation";

/** A user's application. It writes a line when it starts, by which a test knows how often it did. */
const APPLICATION = `import { appendFileSync } from "node:fs";
import { createSystem } from "envoi";
import { runCode, spawnCodeExecution, spawnProgram } from "envoi/tools";
appendFileSync(process.env["STARTS"] ?? "starts", "started\\n");
await using system = createSystem();
const code = spawnCodeExecution(system, { isolation: "trusted" });
const sources = {
  javascript: "return input * 2",
  typescript: "const twice = (n: number): number => n * 2; return twice(input as number)",
};
const long = "// A comment.\\n".repeat(4_000) + sources.typescript;
const results = [];
for (const isolation of ["sandbox", "process", "trusted"]) {
  for (const [language, source] of Object.entries({ ...sources, long })) {
    const ran = await runCode(code, { code: source, language: language === "long" ? "typescript" : language, isolation, input: 21 });
    results.push([isolation, language, ran.isOk() ? ran.value.value : ran.error]);
  }
}
const counter = spawnProgram(system, "counter", "let n = 0; ({ run: (by) => (n += by) })");
results.push(["program", (await counter.ask("run", 2)).unwrapOr("failed")]);
console.log(JSON.stringify(results));
`;
const RESULTS = [
  ...["sandbox", "process", "trusted"].flatMap((isolation) =>
    ["javascript", "typescript", "long"].map((language) => [isolation, language, 42]),
  ),
  ["program", 2],
];

/** One that only spawns a code actor, and tells what was thrown. */
const SPAWNER = `import { appendFileSync } from "node:fs";
import { createSystem } from "envoi";
import { spawnCodeExecution, spawnProgram } from "envoi/tools";
appendFileSync(process.env["STARTS"] ?? "starts", "started\\n");
const system = createSystem();
for (const spawn of [() => spawnCodeExecution(system), () => spawnProgram(system, "program", "() => 1")]) {
  try {
    spawn();
    console.log("spawned");
  } catch (error) {
    console.log(error.message);
  }
}
await system.shutdown();
`;

let built = ""; // Where the application is built, with the package installed.
let alone = ""; // Where it runs, with nothing beside it.
beforeAll(async () => {
  built = await mkdtemp(join(await installation(), "application-"));
  alone = await mkdtemp(join(tmpdir(), "envoi-bundled-"));
  await Bun.write(join(built, "application.ts"), APPLICATION);
  await Bun.write(join(built, "spawner.ts"), SPAWNER);
}, 120_000);
afterAll(async () => {
  putAway();
  await rm(alone, { recursive: true, force: true });
});

/** Runs `bun build` as a user does, beside the sources. */
async function build(...args: string[]): Promise<void> {
  const child = Bun.spawn([process.execPath, "build", ...args], { cwd: built, stdio: ["ignore", "pipe", "pipe"] });
  const [out, status] = await Promise.all([child.stderr.text(), child.exited]);
  if (status !== 0) throw new Error(out);
}

/** Runs what was built in an empty folder, and tells how often it started. */
async function run(name: string, cmd: string[], environment: Record<string, string> = {}) {
  const cwd = join(alone, name);
  await mkdir(cwd);
  const starts = join(cwd, "starts");
  const env = { PATH: process.env["PATH"], HOME: cwd, STARTS: starts, NO_COLOR: "1", ...environment };
  const child = Bun.spawn(cmd, {
    cwd,
    env,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 100_000,
    killSignal: "SIGKILL",
  });
  const [out, err, status] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { out, err, status, starts: (await Bun.file(starts).text()).split("\n").length - 1 };
}

describe("an application that was made one file, with nothing installed beside it", () => {
  test("compiled: code runs in all tiers, and the application starts once", async () => {
    const file = join(alone, "application");
    await build("--compile", "application.ts", "--outfile", file);
    const { out, err, status, starts } = await run("compiled", [file]);
    expect({ err, status, starts }).toEqual({ err: "", status: 0, starts: 1 });
    expect(JSON.parse(out)).toEqual(RESULTS);
  }, 120_000);

  test("bundled: code runs in all tiers, and the application starts once", async () => {
    const file = join(alone, "application.js");
    await build("--target=bun", "application.ts", "--outfile", file);
    const { out, err, status, starts } = await run("bundled", [process.execPath, file]);
    expect({ err, status, starts }).toEqual({ err: "", status: 0, starts: 1 });
    expect(JSON.parse(out)).toEqual(RESULTS);
  }, 120_000);

  test("bundled without the programs of the processes: no code actor is spawned, and the error says what to do", async () => {
    const file = join(alone, "spawner.js");
    await build("--target=bun", "spawner.ts", "--outfile", file, "--external=*/embedded.js");
    const sentence = expect.stringMatching(/^The code actor cannot start: .* Bundle "envoi" whole, or leave it out/);
    const { out, err, status, starts } = await run("lacking", [process.execPath, file]);
    expect({ err, status, starts }).toEqual({ err: "", status: 0, starts: 1 });
    expect(out.trimEnd().split("\n")).toEqual([sentence, sentence]);
  }, 120_000);

  test("as a child of itself, as where an executable does not act as Bun: it starts no child, and says so", async () => {
    const file = join(alone, "spawner");
    await build("--compile", "spawner.ts", "--outfile", file);
    const sentence = expect.stringMatching(/^The code actor cannot start here: this process was started as a sandbox/);
    const { out, status, starts } = await run("child", [file], { ENVOI_CHILD: "1" });
    expect({ status, starts }).toEqual({ status: 0, starts: 1 });
    expect(out.trimEnd().split("\n")).toEqual([sentence, sentence]);
  }, 120_000);
});
