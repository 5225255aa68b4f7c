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

test("a program that is one executable starts processes by an entry that is a file, and by none that lies in it", async () => {
  const [program = "", kitchen = ""] = ["compiled", "kitchen"].map((name) =>
    join(import.meta.dir, `programs/${name}.ts`),
  );
  const file = join(folder, "program");
  expect((await run("build", "--compile", `--outfile=${file}`, program, kitchen)).status).toBe(0);
  const result = async (env: Record<string, string>) => {
    const child = Bun.spawn([file], { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "inherit"] });
    return child.stdout.text();
  };
  expect(await result({ ENTRY: kitchen })).toBe("soup\n");
  expect(await result({})).toContain("TypeError: A process cannot be started by an entry that lies in the executable");
}, 60_000);
