import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const ROOT = join(import.meta.dir, "../../..");
const INTERPRETER = "@jitl/quickjs-wasmfile-release-sync";
const TYPESCRIPT = "@sveltejs/acorn-typescript";

/** Spawns an actor of each kind, and tells what was thrown. */
const SPAWNER = `import { createSystem } from "./src";
import { spawnCodeExecution, spawnProgram } from "./src/tools";
const system = createSystem();
const told = {};
const attempt = (what, spawn) => {
  try {
    spawn();
    told[what] = "spawned";
  } catch (error) {
    told[what] = error.message;
  }
};
for (const isolation of ["sandbox", "process", "trusted"]) {
  attempt(isolation, () => spawnCodeExecution(system, { isolation, name: isolation }));
  attempt(isolation + " alone", () =>
    spawnCodeExecution(system, { isolation, languages: ["javascript"], name: isolation + "-alone" }),
  );
  for (const language of ["javascript", "typescript"]) {
    const name = isolation + " " + language;
    attempt(name, () => spawnProgram(system, name.replace(" ", "-"), "() => 1", { isolation, language }));
  }
}
await system.shutdown();
console.log(JSON.stringify(told));
`;

describe("packages that are missing", () => {
  let folder = "";
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "envoi-peers-"));
    cpSync(join(ROOT, "src"), join(folder, "src"), { recursive: true });
    await Bun.write(join(folder, "spawner.ts"), SPAWNER);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  /** The results of spawning with these packages installed, beside envoi's own dependencies. */
  async function spawnWith(...peers: string[]): Promise<Record<string, string>> {
    const modules = join(folder, "node_modules");
    rmSync(modules, { recursive: true, force: true });
    for (const name of ["neverthrow", "typebox", ...peers]) {
      mkdirSync(dirname(join(modules, name)), { recursive: true });
      symlinkSync(join(ROOT, "node_modules", name), join(modules, name));
    }
    const child = Bun.spawn([process.execPath, "--no-install", join(folder, "spawner.ts")], { stdout: "pipe" });
    return JSON.parse(await child.stdout.text()) as Record<string, string>;
  }

  test("are told when an actor is spawned, with the command that installs what its tier and language need", async () => {
    const told = await spawnWith();
    const commands = Object.entries(told).map(([what, message]) => [what, /`(.*)`/.exec(message)?.[1]]);
    const both = `acorn@8 ${TYPESCRIPT}@1`;
    expect(Object.fromEntries(commands)).toEqual({
      sandbox: `bun add ${INTERPRETER}@0.32.0 ${both}`,
      "sandbox alone": `bun add ${INTERPRETER}@0.32.0 acorn@8`,
      "sandbox javascript": `bun add ${INTERPRETER}@0.32.0 acorn@8`,
      "sandbox typescript": `bun add ${INTERPRETER}@0.32.0 ${both}`,
      process: `bun add ${both}`,
      "process alone": "bun add acorn@8",
      "process javascript": "bun add acorn@8",
      "process typescript": `bun add ${both}`,
      trusted: `bun add ${both}`,
      "trusted alone": "bun add acorn@8",
      "trusted javascript": "bun add acorn@8",
      "trusted typescript": `bun add ${both}`,
    });
    expect(told["trusted javascript"]).toStartWith('Code cannot run as "trusted" here, because acorn is not installed');
  });

  test("are not asked for where no actor of that tier and language needs them", async () => {
    const told = await spawnWith("acorn");
    const spawned = Object.keys(told).filter((what) => told[what] === "spawned");
    expect(spawned).toEqual(["process alone", "process javascript", "trusted alone", "trusted javascript"]);
    expect(told["trusted"]).toEndWith(`run \`bun add ${TYPESCRIPT}@1\`, or spawn it with languages: ["javascript"].`);
    expect(told["trusted typescript"]).toEndWith(`run \`bun add ${TYPESCRIPT}@1\`.`);
  });

  test("are none where all are installed", async () => {
    const told = await spawnWith("acorn", TYPESCRIPT, INTERPRETER);
    expect(new Set(Object.values(told))).toEqual(new Set(["spawned"]));
  });
});
