import { cpSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import manifest from "../../package.json";
import { disk, sharedFolder } from "../harness/places";
import { ensureBuilt } from "../harness/shipped";
import { median } from "../harness/statistics";
import type { Readings } from "../harness/suite";

/** The folder of the package: that of a checkout, or of an installed package, from which the benchmarks came. */
export const home = join(import.meta.dir, "../..");
const STARTS = join(import.meta.dir, "starts");

export const DONE = 42;

/** A folder with a program of each kind and the package installed, as it is published; it is removed when the process ends. */
export async function installation(): Promise<string> {
  await ensureBuilt(home);
  return sharedFolder(disk, "installation", (folder) => {
    const modules = join(folder, "node_modules");
    const own = join(modules, manifest.name);
    mkdirSync(own, { recursive: true });
    cpSync(join(home, "package.json"), join(own, "package.json"));
    cpSync(join(home, "dist"), join(own, "dist"), { recursive: true });
    for (const name of [...Object.keys(manifest.dependencies), ...Object.keys(manifest.peerDependencies)]) {
      const from = folderOf(name);
      if (from !== undefined) cpSync(from, join(modules, name), { recursive: true });
    }
    cpSync(STARTS, folder, { recursive: true });
    writeFileSync(join(folder, "number.txt"), String(DONE));
    writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
  });
}

export function folderOf(name: string): string | undefined {
  for (let at = home; ; at = dirname(at)) {
    const folder = join(at, "node_modules", name);
    if (existsSync(folder)) return folder;
    if (at === dirname(at)) return undefined;
  }
}

function start(folder: string, name: string, status: number): number {
  const began = performance.now();
  const { exitCode, stderr } = Bun.spawnSync([process.execPath, "--no-install", `${name}.ts`], {
    cwd: folder,
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  const taken = performance.now() - began;
  if (exitCode !== status) throw new Error(`${name}.ts ended with ${exitCode}, not ${status}: ${stderr}`);
  return taken;
}

/** Starts a program so many times, each beside one that is empty: from the start of the process to its end. */
export async function startsOf(name: string, times: number): Promise<Readings> {
  const folder = await installation();
  start(folder, name, DONE); // Reads the files from the disk.
  const all: number[] = [];
  const bare: number[] = [];
  for (let i = 0; i < times; i++) {
    const isFirst = i % 2 === 0; // Neither always finds the processor as the other left it.
    if (isFirst) bare.push(start(folder, "empty", 0));
    all.push(start(folder, name, DONE));
    if (!isFirst) bare.push(start(folder, "empty", 0));
  }
  const over = all.map((each, index) => each - (bare[index] ?? 0));
  return { time: median(all), "bare Bun": median(bare), "over bare Bun": median(over) };
}

/** Imports that a bundle leaves out: optional peers, also in their packed form. `OTHERS` adds all that is not envoi's own. */
const PEERS = /^(\.\/embedded\.js|acorn|@sveltejs\/acorn-typescript|@jitl\/.*)$/;
const OTHERS = new RegExp(`${PEERS.source}|^neverthrow$|^\\./typebox[^/]*$`);

/** The kilobytes that an entry of the built package adds to a bundle that uses all of it, made small by Bun's bundler. */
export async function sizeOf(entry: "index" | "tools"): Promise<Readings> {
  const whole = await bundle(entry, PEERS);
  const own = await bundle(entry, OTHERS);
  return {
    minified: whole.length / 1_000,
    gzip: Bun.gzipSync(whole, { level: 9 }).length / 1_000,
    "minified, our own": own.length / 1_000,
    "gzip, our own": Bun.gzipSync(own, { level: 9 }).length / 1_000,
  };
}

async function bundle(entry: string, external: RegExp): Promise<Uint8Array<ArrayBuffer>> {
  const { outputs } = await Bun.build({
    entrypoints: [join(await installation(), `node_modules/envoi/dist/${entry}.js`)],
    target: "bun",
    minify: true,
    plugins: [
      {
        name: "external",
        setup: (build) => void build.onResolve({ filter: external }, ({ path }) => ({ path, external: true })),
      },
    ],
  });
  const [output, more] = outputs;
  if (output === undefined || more !== undefined) throw new Error(`${outputs.length} files came of ${entry}.js`);
  return new Uint8Array(await output.arrayBuffer());
}
