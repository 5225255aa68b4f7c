import { mkdtemp, realpath, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CompareSurroundings } from "../../../benchmarks/compare/compare";
import { Checkout } from "../../../benchmarks/compare/revision";

const root = join(import.meta.dir, "../../..");

/** A copy of this tree, with a commit of its own and what it depends on. */
export interface Tree extends AsyncDisposable {
  readonly root: string;
  /** Changes a file; the text must be there. */
  patch(path: string, text: string, by: string): Promise<void>;
  git(...args: readonly string[]): string;
}

export async function copyOfTree(): Promise<Tree> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "envoi-tree-")));
  await (await Checkout.open(root)).copyTree(folder);
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  await Bun.write(join(folder, ".git/info/exclude"), "node_modules\n"); // A link, which `node_modules/` does not stand for.
  return committed(folder);
}

/** A folder with all that is in it as its first commit. */
function committed(folder: string): Tree {
  const git = (...args: readonly string[]): string => {
    const named = ["-c", "user.name=test", "-c", "user.email=test@example.org", ...args];
    const { success, stdout, stderr } = Bun.spawnSync(["git", ...named], { cwd: folder });
    if (!success) throw new Error(`git ${args.join(" ")}: ${stderr}`);
    return stdout.toString().trim();
  };
  git("init", "--quiet");
  git("add", "--all");
  git("commit", "--quiet", "--message", "first");
  return {
    root: folder,
    git,
    async patch(path, text, by) {
      const file = join(folder, path);
      const before = await Bun.file(file).text();
      if (!before.includes(text)) throw new Error(`${path} has no ${text}`);
      await Bun.write(file, before.replace(text, by));
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** A checkout of a package with a build of its own and no more: it is built at once. */
export async function tinyTree(build: string): Promise<Tree> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "envoi-tiny-")));
  const files = {
    "package.json": "{}",
    "bun.lock": "",
    "scripts/build.ts": build,
    "benchmarks/suites/files.bench.ts": "",
    "node_modules/here": "",
    ".gitignore": "node_modules",
  };
  for (const [name, text] of Object.entries(files)) await Bun.write(join(folder, name), text);
  return committed(folder);
}

/** Makes each turn of an actor about ten times as long: what a release must not do unnoticed. */
export const slowDown = (tree: Tree): Promise<void> =>
  tree.patch(
    "src/runtime/dispatcher.ts",
    "return runnable.run(limit);",
    "for (let i = 0, busy = 1; i < 3_000; i++) if ((busy = (busy * 31 + i) | 0) === 7) this.isAwake = true;\n      return runnable.run(limit);",
  );

/** Adds an export to the package, and a row of the suite `routing` that needs it. */
export async function addExport(tree: Tree, name: string, row: string): Promise<void> {
  await tree.patch("src/index.ts", "export {", `export const ${name} = (): number => 1;\nexport {`);
  const suite = "benchmarks/suites/routing.bench.ts";
  await tree.patch(suite, "  type AskResult,\n", `  type AskResult,\n  ${name},\n`);
  const setup = `setup: () => (${name}(), askThrough(createRouter(), OPERATIONS))`;
  await tree.patch(suite, "  rows: [\n", `  rows: [\n    { ...routedAsk, name: ${JSON.stringify(row)}, ${setup} },\n`);
}

/** What a comparison says, and how one ends it. */
export function listening(root: string): { readonly around: CompareSurroundings; readonly said: Said; abort(): void } {
  const controller = new AbortController();
  const said: Said = { out: "", err: "", progress: [], onProgress: () => {} };
  const around: CompareSurroundings = {
    root,
    out: (text) => {
      said.out += text;
    },
    err: (text) => {
      said.err += text;
    },
    progress: (text) => {
      said.progress.push(text);
      said.onProgress(text);
    },
    signal: controller.signal,
  };
  return { around, said, abort: () => controller.abort() };
}

interface Said {
  out: string;
  err: string;
  readonly progress: string[];
  onProgress: (text: string) => void;
}
