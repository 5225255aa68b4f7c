import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { laddersPicture, peersPicture } from "../charts/columns";
import { dark, light } from "../charts/picture";
import { picturesOf } from "../charts/suites";
import { FOLDER, fillReadme, render } from "../pages/page";
import { publishedPage } from "../pages/published";
import { floorsPage, limitsPage, methodPage, picture, suitePage } from "../pages/suite";
import { renderPeers } from "../peers/page";
import { readPeers } from "../peers/results";
import { renderStress } from "../stress/page";
import { parseStress } from "../stress/results";
import { targets as ownTargets } from "../targets";
import { writeWhole } from "./places";
import { readResults } from "./results";
import { inOrder } from "./tables";
import type { Target } from "./target";

export async function writePages(root: string, targets: readonly Target[] = ownTargets): Promise<void> {
  const due = await documentsOf(root, targets);
  await writeWhole(Array.from(due, ([name, text]) => [join(root, name), text]));
  for (const name of await madeIn(root)) if (!due.has(name)) await rm(join(root, name), { force: true });
}

/** The documents that are not what the results give, by their paths from `root`: `BENCHMARKS.md`. `writePages` mends them. */
export async function stalePages(root: string, targets: readonly Target[] = ownTargets): Promise<string[]> {
  const due = await documentsOf(root, targets);
  const stale = (await madeIn(root)).filter((name) => !due.has(name));
  for (const [name, text] of due) if ((await textOf(join(root, name))) !== text) stale.push(name);
  return stale.sort();
}

async function documentsOf(root: string, targets: readonly Target[]): Promise<Map<string, string>> {
  const results = inOrder(await readResults(join(root, FOLDER)), ({ suite }) => suite);
  const peers = await readPeers(join(root, FOLDER));
  const stressText = await textOf(join(root, FOLDER, "stress.json"));
  const stress = stressText === undefined ? undefined : parseStress(stressText, `${FOLDER}/stress.json`);

  const pictures = new Map(results.map((result) => [result.suite, picturesOf(result, targets)]));
  const rivals = new Map(peers.map((each) => [each.room, peersPicture(each)]));
  const ladders = stress && laddersPicture(stress);
  const shown = (of: typeof ladders) => (of === undefined ? "" : picture(of));

  const peersAbout = "other libraries and tools beside envoi";
  const stressAbout = "load raised until something breaks, and faults under load";
  const pages: (readonly [name: string, about: string, text: string])[] = [
    ...(stress === undefined ? [] : [["stress", stressAbout, renderStress(stress, shown(ladders))] as const]),
    ...(peers.length === 0
      ? []
      : [["peers", peersAbout, renderPeers(peers, (room) => shown(rivals.get(room)))] as const]),
    ["published", "what was published for an earlier layer, on another machine", publishedPage(results)],
    ["limits", "each limit with its aim and its reason", limitsPage(results, targets)],
    ["floors", "what each floor does, and which rows have none", floorsPage(results)],
    ["method", "how the figures come about, and how two revisions are compared", methodPage()],
  ];
  const due = new Map(pages.map(([name, , text]) => [`${FOLDER}/${name}.md`, text]));
  for (const result of results)
    due.set(`${FOLDER}/${result.suite}.md`, suitePage(result, targets, pictures.get(result.suite) ?? []));
  const all = { results, targets, peers, pictures, others: new Map(pages.map(([name, about]) => [name, about])) };
  due.set("BENCHMARKS.md", render(all));
  const readme = await textOf(join(root, "README.md"));
  if (readme !== undefined) due.set("README.md", fillReadme(readme, all));
  for (const each of [...pictures.values(), ...rivals.values(), ladders].flat()) {
    for (const theme of [light, dark])
      if (each !== undefined) due.set(`${FOLDER}/charts/${each.name}.${theme.name}.svg`, each.draw(theme));
  }
  return due;
}

async function madeIn(root: string): Promise<string[]> {
  const names = await readdir(join(root, FOLDER), { recursive: true }).catch(() => []);
  return names.filter((name) => /\.(svg|md)$/.test(name)).map((name) => `${FOLDER}/${name}`);
}

async function textOf(path: string): Promise<string | undefined> {
  const file = Bun.file(path);
  return (await file.exists()) ? file.text() : undefined;
}
