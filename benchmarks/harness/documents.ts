import { mkdir, readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { CodePeerResults } from "../peers/code/results";
import { renderPeers } from "../peers/page";
import type { PeerResults } from "../peers/results";
import { targets as ownTargets } from "../targets";
import { fillFigures, render } from "./page";
import { readResults } from "./results";
import type { Target } from "./target";

const RESULTS = "benchmarks/results";
const CHARTS = "benchmarks/results/charts";

/** Writes every document that is made from the results in `benchmarks/results`, and removes charts that nothing gives any more. */
export async function writePages(root: string, targets: readonly Target[] = ownTargets): Promise<void> {
  const due = await documentsOf(root, targets);
  for (const [name, text] of due) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await Bun.write(join(root, name), text);
  }
  for (const name of await chartsIn(root)) if (!due.has(name)) await rm(join(root, name));
}

/** The documents that are not what the results give, by their paths from `root`: `BENCHMARKS.md`. `writePages` mends them. */
export async function stalePages(root: string, targets: readonly Target[] = ownTargets): Promise<string[]> {
  const due = await documentsOf(root, targets);
  const stale = (await chartsIn(root)).filter((name) => !due.has(name));
  for (const [name, text] of due) if ((await textOf(join(root, name))) !== text) stale.push(name);
  return stale.sort();
}

/** What each document must say, by its path from `root`. */
async function documentsOf(root: string, targets: readonly Target[]): Promise<Map<string, string>> {
  const results = await readResults(join(root, RESULTS));
  const due = new Map([["BENCHMARKS.md", render(results, targets)]]);
  const readme = await textOf(join(root, "README.md"));
  if (readme !== undefined) due.set("README.md", fillFigures(readme, results, targets));
  const files = await textOf(join(root, RESULTS, "peers-files.json"));
  const code = await textOf(join(root, RESULTS, "peers-code.json"));
  if (files !== undefined && code !== undefined) {
    // Both are written by `bun run bench:peers` alone.
    const text = renderPeers(JSON.parse(files) as PeerResults, JSON.parse(code) as CodePeerResults);
    due.set("benchmarks/peers/RESULTS.md", text);
  }
  return due;
}

async function chartsIn(root: string): Promise<string[]> {
  const names = await readdir(join(root, CHARTS)).catch(() => []);
  return names.filter((name) => name.endsWith(".svg")).map((name) => `${CHARTS}/${name}`);
}

async function textOf(path: string): Promise<string | undefined> {
  const file = Bun.file(path);
  return (await file.exists()) ? file.text() : undefined;
}
