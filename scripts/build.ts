/** Builds `dist`, JavaScript by tsup and declarations by tsc, and `bench`, the benchmarks as the package has them. With `--if-stale`, only where it is older than what it is made from. */

import { existsSync, renameSync, rmSync, statSync, utimesSync } from "node:fs";
import { dirname, join } from "node:path";
import { $, Glob } from "bun";
import { transform } from "esbuild";
import { descendants, residentBytes, signalAll } from "../benchmarks/harness/processes";
import manifest from "../package.json";
import { embed } from "./embed";
import { shorten } from "./shorten";

/** What is changed from here on is not in the build. */
const begun = new Date();
const root = join(import.meta.dir, "..");
const dist = join(root, "dist");
// Built beside it and then put in its place, so that whoever uses it meanwhile finds all of it, and maps lead to the sources.
const made = join(root, `.dist-${process.pid}`);
const replaced = `${made}-replaced`;
const types = join(made, "types");
/** Made and replaced in the same way. */
const bench = join(root, "bench");
const benchMade = `${made}-bench`;
const benchReplaced = `${made}-bench-replaced`;
/** Of the declarations of the benchmarks' results. It lies below the root, so as to find what is installed, which may be another user's. */
const project = join(`${made}-project`, "tsconfig.json");

const INPUTS = [
  "src/**/*.ts",
  "src/http/inspector/page/*",
  "benchmarks/*.{ts,json}",
  "benchmarks/{harness,soak,stress,subjects,suites,targets}/**",
  "benchmarks/peers/results.ts",
  "package.json",
  "bun.lock",
  "tsconfig*.json",
  "tsup.config.ts",
  "scripts/{build,embed,shorten}.ts",
];

/** Its time is that at which its build began. */
const stamp = "types/index.d.ts";

function isBuilt(): boolean {
  const built = statSync(join(dist, stamp), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (!existsSync(join(bench, "envoi.ts"))) return false;
  return INPUTS.every((pattern) =>
    [...new Glob(pattern).scanSync({ cwd: root })].every((path) => statSync(join(root, path)).mtimeMs <= built),
  );
}

function cleanUp(): void {
  for (const path of [made, replaced, benchMade, benchReplaced, dirname(project)])
    rmSync(path, { recursive: true, force: true });
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

const image = Bun.file(join(made, "sandbox.image"));
await Bun.write(image, Bun.zstdCompressSync(await image.bytes(), { level: 19 }));
await embed(made);
await Bun.write(join(made, "typebox.license.txt"), Bun.file(join(root, "node_modules/typebox/license")));
await Bun.write(join(made, "acp.license.txt"), Bun.file(join(root, "node_modules/@agentclientprotocol/sdk/LICENSE")));
await Bun.write(join(made, "diff.license.txt"), Bun.file(join(root, "node_modules/diff/LICENSE")));

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
  await Bun.write(
    path,
    complete.replace(/^(?: {4})+/gm, (indent) => "\t".repeat(indent.length / 4)),
  );
}

// Below an error, Bun asks for the source maps of files that it need not transpile. The package has none (see tsup.config.ts),
// and so each has one of a single place, at its start, where nothing throws. Without the content of its source, Bun warns that it
// cannot decode the map.
const MAP = { version: 3, sources: ["start"], sourcesContent: [""], names: [], mappings: "AAAA" };
const mapping = `//# sourceMappingURL=data:application/json;base64,${Buffer.from(JSON.stringify(MAP)).toString("base64")}\n`;
for (const path of new Glob("*.js").scanSync({ cwd: made, absolute: true })) {
  const whole = await Bun.file(path).text();
  const [program = ""] = /^#!.*\n/.exec(whole) ?? [];
  const text = await shorten(whole.slice(program.length));
  if (text.startsWith("// @bun\n")) await Bun.write(path, program + text + mapping);
}

// Most modules' types are told to nobody: of 281 declarations, 106 are reached from what the package exports.
const reached = new Set<string>();
const reach = async (path: string): Promise<void> => {
  if (reached.has(path)) return;
  reached.add(path);
  const text = await Bun.file(path).text();
  for (const [, , specifier = ""] of text.matchAll(RELATIVE)) {
    await reach(join(dirname(path), specifier.replace(/\.js$/, ".d.ts")));
  }
};
const told = new Set<string>();
for (const { types: entry } of Object.values(manifest.exports).filter((each) => typeof each === "object")) {
  const path = join(made, entry.replace("./dist/", ""));
  await reach(path);
  told.add(path);
  for (const [, , specifier = ""] of (await Bun.file(path).text()).matchAll(RELATIVE)) {
    told.add(join(dirname(path), specifier.replace(/\.js$/, ".d.ts")));
  }
}
for await (const path of new Glob("**/*.d.ts").scan({ cwd: types, absolute: true })) {
  if (!reached.has(path)) rmSync(path);
  // The comments of what no entry exports are shown to nobody.
  else if (!told.has(path))
    await Bun.write(path, (await Bun.file(path).text()).replace(/^\s*\/\*\*[\s\S]*?\*\/\n/gm, ""));
}

// The largest file of a tool has short names of its own, which spares 64 KB of the 2 MB: methods keep theirs in stack traces.
const largest = join(made, "file-actor.js");
const { code } = await transform(await Bun.file(largest).text(), { minify: true, lineLimit: 160, target: "esnext" });
await Bun.write(largest, `// @bun\n${code}`);

// The benchmarks run from their sources, by their names; in the package they have neither types, comments, indentation nor the names of variables, which are half of them.
const SHIPPED = [
  "{envoi,run,targets}.ts",
  "published-figures.json",
  "{harness,soak,stress,subjects,suites,targets}/**",
];
for (const path of SHIPPED.flatMap((each) => [...new Glob(each).scanSync({ cwd: join(root, "benchmarks") })])) {
  if (path === "harness/documents.ts") continue; // It writes the pages of a checkout.
  const text = await Bun.file(join(root, "benchmarks", path)).text();
  const isCode = path.endsWith(".ts");
  const code = isCode ? (await transform(text, { loader: "ts", minify: true, target: "esnext" })).code : text;
  // Nobody imports what has only types. The empty program is the floor of a start.
  if (code.trim() === "" && !path.startsWith("subjects/starts/")) continue;
  await Bun.write(join(benchMade, path), code);
}

utimesSync(join(made, stamp), begun, begun);

// Two may have begun at the same time, and one is enough.
if (!(isOnlyIfStale && isBuilt())) {
  if (existsSync(dist)) renameSync(dist, replaced);
  renameSync(made, dist);
  if (existsSync(bench)) renameSync(bench, benchReplaced);
  renameSync(benchMade, bench);
}
cleanUp();
