import { expect, test } from "bun:test";
import { join } from "node:path";
import manifest from "../../package.json";
import { agentRun, createFolder, message, write } from "./record/kit";

const program = join(import.meta.dir, "../../src/cli/envoi.ts");

async function envoi(...args: string[]) {
  const child = Bun.spawn([process.execPath, program, ...args], { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [out, err, status] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { out, err, status };
}

test("the program tells its commands and its version, and runs those of recordings and of benchmarks", async () => {
  using folder = createFolder();
  const file = write(folder.at("run.ndjson"), agentRun());
  expect(await envoi("--version")).toEqual({ status: 0, out: `envoi ${manifest.version}\n`, err: "" });
  expect((await envoi()).out).toContain("  record  looks into recordings");
  expect(await envoi("recrod")).toMatchObject({ status: 2, err: expect.stringContaining("There are record, bench,") });
  expect(await envoi("record", "grep", "Bern", file)).toMatchObject({ status: 0, err: "" });
  expect(await envoi("record", "grep", "Genf", file)).toEqual({ status: 1, out: "", err: "" });
  expect(await envoi("bench", "--help")).toMatchObject({
    status: 0,
    out: expect.stringContaining("envoi bench [suite…]"),
  });
}, 60_000);

test("whoever reads may stop reading: the program ends, and says nothing", async () => {
  using folder = createFolder();
  const lines = Array.from({ length: 20_000 }, (_, index) => message(index + 1, { payload: "x".repeat(200) }));
  const file = write(folder.at("run.ndjson"), lines);
  const command = `"$0" "$1" record show "$2" --json | head -n 1`;
  const child = Bun.spawn(["bash", "-o", "pipefail", "-c", command, process.execPath, program, file], {
    stderr: "pipe",
  });
  const [out, err, status] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  expect({ lines: out.split("\n").length, err, status }).toEqual({ lines: 2, err: "", status: 0 });
}, 60_000);
