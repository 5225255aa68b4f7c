import { afterEach, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stalePages, writePages } from "../../benchmarks/harness/documents";
import { writeResult } from "../../benchmarks/harness/results";
import { keep } from "../../benchmarks/peers/results";
import { serialiseStress } from "../../benchmarks/stress/results";
import { peerResult } from "./peers/sample";
import { result } from "./sample-result";
import { results as stress } from "./stress/sample";

const project = join(import.meta.dir, "../..");

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

/** A project with results and a README, whose documents are not written yet. */
async function unwritten({ readme = "# envoi\n<!-- figures:begin -->\n<!-- figures:end -->\n" } = {}): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), "envoi-documents-"));
  folders.push(root);
  await writeResult(join(root, "benchmarks/results"), result({}));
  if (readme !== "") await Bun.write(join(root, "README.md"), readme);
  return root;
}

const textOf = (root: string, path: string): Promise<string> => Bun.file(join(root, path)).text();

describe("the documents that results give", () => {
  test("are stale until they are written", async () => {
    const root = await unwritten();
    const stale = await stalePages(root);
    expect(stale).toContain("BENCHMARKS.md");
    expect(stale).toContain("README.md");
    await writePages(root);
    expect(await stalePages(root)).toEqual([]);
  });

  test("say how two revisions are compared", async () => {
    const root = await unwritten();
    await writePages(root);
    expect(await textOf(root, "BENCHMARKS.md")).toContain("[method.md](benchmarks/results/method.md)");
    expect(await textOf(root, "benchmarks/results/method.md")).toContain("`bun run bench --compare REV`");
  });

  test("are stale as soon as a figure of theirs is another", async () => {
    const root = await unwritten();
    await writePages(root);
    await writeResult(join(root, "benchmarks/results"), result({ ratio: 1.49 }));
    expect(await stalePages(root)).toContain("BENCHMARKS.md");
  });

  test("are stale when somebody typed in them", async () => {
    const root = await unwritten();
    await writePages(root);
    const page = join(root, "BENCHMARKS.md");
    await Bun.write(page, (await Bun.file(page).text()).replace("128 ns", "12 ns"));
    expect(await stalePages(root)).toEqual(["BENCHMARKS.md"]);
  });

  test("leave no chart and no page of what is gone", async () => {
    const root = await unwritten();
    await writePages(root);
    const chart = "benchmarks/results/charts/gone.light.svg";
    await Bun.write(join(root, chart), "<svg/>");
    expect(await stalePages(root)).toEqual([chart]);
    await writePages(root);
    expect(await Bun.file(join(root, chart)).exists()).toBe(false);
  });

  test("have a page of stress, once there is any, with a chart for each theme", async () => {
    const root = await unwritten();
    await writePages(root);
    expect(await textOf(root, "BENCHMARKS.md")).not.toContain("stress.md");
    await Bun.write(join(root, "benchmarks/results/stress.json"), serialiseStress(stress));
    const charts = ["dark", "light"].map((theme) => `benchmarks/results/charts/stress-ladders.${theme}.svg`);
    expect(await stalePages(root)).toEqual(["BENCHMARKS.md", ...charts, "benchmarks/results/stress.md"]);
    await writePages(root);
    const page = await textOf(root, "benchmarks/results/stress.md");
    expect(page).toContain('srcset="charts/stress-ladders.dark.svg"');
    for (const chart of charts) expect(await textOf(root, chart)).toStartWith("<svg ");
  });

  test("have other libraries of actors, once they were measured, on a page of their own and on a chart", async () => {
    const root = await unwritten();
    await keep(join(root, "benchmarks/results"), peerResult({ envoi: 90, rival: 300 }));
    await writePages(root);
    expect(await stalePages(root)).toEqual([]);
    expect(await textOf(root, "BENCHMARKS.md")).toContain("| actors: tell | 90 ns | rival: 300 ns, 3.33 times | – |");
    const page = await textOf(root, "benchmarks/results/peers.md");
    expect(page).toContain('alt="actors: envoi beside rival, row by row, the best first"');
    expect(await textOf(root, "benchmarks/results/charts/peers-actors.dark.svg")).toContain("300 ns");
  });

  test("are not made of results that are none: the error names the file, and what to do", async () => {
    const root = await unwritten();
    await Bun.write(join(root, "benchmarks/results/stress.json"), '{ "machine": {} }');
    await expect(writePages(root)).rejects.toThrow(/benchmarks\/results\/stress\.json.*run `bun run stress` again/);
  });

  test("are no README where there is none", async () => {
    const root = await unwritten({ readme: "" });
    await writePages(root);
    expect(await Bun.file(join(root, "README.md")).exists()).toBe(false);
    expect(await stalePages(root)).toEqual([]);
  });

  test("are those of the repository; `bun run bench --page` writes them", async () => {
    expect(await stalePages(project)).toEqual([]);
  });
});
