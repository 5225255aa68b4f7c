import { mkdir, readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Picture } from "../charts/picture";
import { dark, light } from "../charts/theme";
import { inReadme, published } from "../shown";
import { MOST_P99 } from "../stress/limits";
import { renderStress } from "../stress/page";
import { parseStress } from "../stress/results";
import { targets as ownTargets } from "../targets";
import { CHARTS, fillFigures, render, type Section } from "./page";
import { readResults } from "./results";
import type { Target } from "./target";

const RESULTS = "benchmarks/results";
const STRESS = "benchmarks/results/stress.json";

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
  // Loaded where documents are made, and nowhere else: an installed package has none of it.
  const { picturesOf } = await import("../charts/pictures");
  const { actorsPicture, toolsPicture } = await import("../charts/rooms");
  const { laddersPicture } = await import("../charts/stress");
  const { COMPARE_METHOD } = await import("../compare/report");
  const { readPeers, renderPeers } = await import("../peers/page");
  const results = await readResults(join(root, RESULTS));
  const peers = await readPeers(join(root, RESULTS));
  const pictures = new Map(results.map((result) => [result.suite, picturesOf(result, results, targets)]));
  const rooms = [
    peers.actors && actorsPicture(peers.actors.peers, peers.actors.rows),
    peers.files && toolsPicture("files", peers.files.peers),
    peers.code && toolsPicture("code", peers.code.peers),
  ].filter((picture) => picture !== undefined);
  const sections: Section[] = [];
  const ran = await textOf(join(root, STRESS));
  const stress = ran === undefined ? undefined : parseStress(ran, STRESS);
  const ladders = stress && laddersPicture(stress.ladders, MOST_P99);
  const loads = ladders === undefined ? [] : [ladders];
  if (stress !== undefined) sections.push({ title: "stress", pictures: loads, text: renderStress(stress) });
  if (rooms.length > 0) sections.push({ title: "Beside other libraries and tools", pictures: rooms, text: PEERS });
  sections.push({ title: "Two revisions beside each other", pictures: [], text: COMPARE_METHOD });

  const due = new Map<string, string>();
  due.set("BENCHMARKS.md", render(results, targets, { pictures, published, sections }));
  const readme = await textOf(join(root, "README.md"));
  if (readme !== undefined) due.set("README.md", fillFigures(readme, results, targets, inReadme));
  if (Object.values(peers).some((room) => room !== undefined)) {
    due.set("benchmarks/peers/RESULTS.md", renderPeers(peers));
  }
  const drawn: readonly Picture[] = [...pictures.values(), rooms, loads].flat();
  for (const { name, draw } of drawn) {
    for (const theme of [light, dark]) due.set(`${CHARTS}/${name}.${theme.name}.svg`, draw(theme));
  }
  return due;
}

const PEERS = `Measured in turns on one machine; lower is better unless a row says so. What each of them is and does not do, and all figures, are in
[benchmarks/peers/RESULTS.md](benchmarks/peers/RESULTS.md).`;

async function chartsIn(root: string): Promise<string[]> {
  const names = await readdir(join(root, CHARTS)).catch(() => []);
  return names.filter((name) => name.endsWith(".svg")).map((name) => `${CHARTS}/${name}`);
}

async function textOf(path: string): Promise<string | undefined> {
  const file = Bun.file(path);
  return (await file.exists()) ? file.text() : undefined;
}
