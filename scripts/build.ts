/** Builds `dist`: JavaScript by tsup, declarations by tsc. With `--if-stale`, only where it is older than what it is made from. */
import { existsSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { $, Glob } from "bun";
import { descendants, residentBytes, signalAll } from "../benchmarks/harness/processes";
import { embed } from "./embed";

const root = join(import.meta.dir, "..");
const dist = join(root, "dist");
// Built beside it and then put in its place, so that whoever uses it meanwhile finds all of it, and maps lead to the sources.
const made = join(root, `.dist-${process.pid}`);
const replaced = `${made}-replaced`;
const types = join(made, "types");
/** Of the declarations of the benchmarks' results. It lies below the root, so as to find what is installed, which may be another user's. */
const project = join(`${made}-project`, "tsconfig.json");

const INPUTS = [
  "src/**/*.ts",
  "benchmarks/index.ts",
  "benchmarks/{harness,stress}/*.ts",
  "benchmarks/peers/*results.ts",
  "benchmarks/peers/*/results.ts",
  "package.json",
  "bun.lock",
  "tsconfig*.json",
  "tsup.config.ts",
  "scripts/{build,embed}.ts",
];

function isBuilt(): boolean {
  const built = statSync(join(dist, "types/index.d.ts"), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return INPUTS.every((pattern) =>
    [...new Glob(pattern).scanSync({ cwd: root })].every((path) => statSync(join(root, path)).mtimeMs <= built),
  );
}

function cleanUp(): void {
  for (const path of [made, replaced, dirname(project)]) rmSync(path, { recursive: true, force: true });
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.once(signal, () => {
    // The compilers hear nothing of a Ctrl-C, and would go on writing.
    const compilers = descendants(process.pid);
    signalAll(compilers, "SIGKILL");
    while (compilers.some((pid) => residentBytes(pid) > 0)) Bun.sleepSync(1);
    cleanUp();
    process.exit(130);
  });
}

const isOnlyIfStale = process.argv.includes("--if-stale");
if (isOnlyIfStale && isBuilt()) process.exit(0);

const steps = [$`${process.execPath} --bun tsup --silent --out-dir ${made}`.cwd(root).nothrow(), declarations()];
for (const { exitCode } of await Promise.all(steps)) {
  if (exitCode === 0) continue;
  cleanUp();
  process.exit(exitCode);
}

/** Those of the benchmarks' results import the library by its name, so they are made from its own. */
async function declarations() {
  const ofLibrary = await $`${process.execPath} --bun tsc -p tsconfig.build.json --outDir ${types}`.cwd(root).nothrow();
  if (ofLibrary.exitCode !== 0) return ofLibrary;
  const compilerOptions = {
    paths: { envoi: [join(types, "index.d.ts")] },
    rootDir: join(root, "benchmarks"),
    outDir: join(types, "benchmarks"),
  };
  const include = [join(root, "benchmarks/index.ts")];
  await Bun.write(project, JSON.stringify({ extends: join(root, "tsconfig.build.json"), compilerOptions, include }));
  return $`${process.execPath} --bun tsc -p ${project}`.cwd(root).nothrow();
}

const prepared =
  await $`${process.execPath} ${join(made, "sandbox-worker.js")} ${join(made, "sandbox.image")}`.nothrow();
if (prepared.exitCode !== 0) {
  cleanUp();
  process.exit(prepared.exitCode);
}

await embed(made);
await Bun.write(join(made, "typebox.license.txt"), Bun.file(join(root, "node_modules/typebox/license")));

// The sources leave the extension out of relative imports; Node's way to resolve declarations asks for it.
const RELATIVE = /((?:from|import)\s*\(?\s*")(\.{1,2}\/[^"]*|\.{1,2})(")/g;
for await (const path of new Glob("**/*.d.ts").scan({ cwd: types, absolute: true })) {
  const text = await Bun.file(path).text();
  const complete = text.replace(RELATIVE, (whole, before: string, specifier: string, after: string) => {
    const ending = [".js", "/index.js"].find((end) =>
      existsSync(join(dirname(path), specifier + end.replace(/js$/, "d.ts"))),
    );
    return ending === undefined ? whole : before + specifier + ending + after;
  });
  await Bun.write(path, complete);
}

// Two may have begun at the same time, and one is enough.
if (!(isOnlyIfStale && isBuilt())) {
  if (existsSync(dist)) renameSync(dist, replaced);
  renameSync(made, dist);
}
cleanUp();
