import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "envoi-built-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function run(...args: string[]) {
  const child = Bun.spawn([process.execPath, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  const [out, err, status] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { out, err, status };
}

test.each([[[]], [["--minify", "--splitting"]]])(
  "a program of workers runs after bun build (%p), with the entry of its workers as one of the entries",
  async (options) => {
    const [program = "", entry = ""] = ["cooks", "kitchen"].map((name) => join(import.meta.dir, `programs/${name}.ts`));
    const outdir = join(folder, String(options.length));
    const built = await run("build", "--target=bun", `--outdir=${outdir}`, ...options, program, entry);
    expect({ status: built.status, err: built.err }).toEqual({ status: 0, err: "" });
    expect(await run(join(outdir, "cooks.js"))).toEqual({ out: "thread soup\nprocess soup\n", err: "", status: 0 });
  },
  60_000,
);
