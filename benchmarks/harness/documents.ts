import { mkdir, readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { targets as ownTargets } from "../targets";
import { readResults } from "./results";
import { inOrder } from "./tables";
import type { Target } from "./target";

const FOLDER = "benchmarks/results";

/** Writes every document that is made from the results in `benchmarks/results`, and removes those that nothing gives any more. */
export async function writePages(root: string, targets: readonly Target[] = ownTargets): Promise<void> {
  const due = await documentsOf(root, targets);
  for (const [name, text] of due) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await Bun.write(join(root, name), text);
  }
  for (const name of await madeIn(root)) if (!due.has(name)) await rm(join(root, name));
}

/** The documents that are not what the results give, by their paths from `root`: `BENCHMARKS.md`. `writePages` mends them. */
export async function stalePages(root: string, targets: readonly Target[] = ownTargets): Promise<string[]> {
  const due = await documentsOf(root, targets);
  const stale = (await madeIn(root)).filter((name) => !due.has(name));
  for (const [name, text] of due) if ((await textOf(join(root, name))) !== text) stale.push(name);
  return stale.sort();
}

/** What each document must say, by its path from `root`. */
async function documentsOf(root: string, targets: readonly Target[]): Promise<Map<string, string>> {
  // Loaded where documents are made, and nowhere else: an installed package has none of it.
  const [
    { picturesOf },
    { peersPicture },
    { laddersPicture },
    { dark, light },
    page,
    more,
    shown,
    peersPage,
    stressPage,
  ] = await Promise.all([
    import("../charts/pictures"),
    import("../charts/peers"),
    import("../charts/stress"),
    import("../charts/theme"),
    import("../pages/page"),
    import("../pages/more"),
    import("../pages/shown"),
    import("../peers/page"),
    import("../stress/page"),
  ]);
  const { readPeers } = await import("../peers/results");
  const { parseStress } = await import("../stress/results");
  const results = inOrder(await readResults(join(root, FOLDER)), ({ suite }) => suite);
  const peers = await readPeers(join(root, FOLDER));
  const stressText = await textOf(join(root, FOLDER, "stress.json"));
  const stress = stressText === undefined ? undefined : parseStress(stressText, `${FOLDER}/stress.json`);

  const pictures = new Map(results.map((result) => [result.suite, picturesOf(result, targets)]));
  const rivals = new Map(peers.map((each) => [each.room, peersPicture(each)]));
  const ladders = stress && laddersPicture(stress);
  const shownIn = (picture: Parameters<typeof page.picture>[0] | undefined) =>
    picture === undefined ? "" : page.picture(picture, "charts");

  const others = new Map<string, readonly [about: string, text: string]>();
  const code = results.find(({ suite }) => suite === page.APART);
  const own = code && more.codePage(code, targets, pictures.get(code.suite) ?? []);
  if (own !== undefined) others.set("code", ["all rows of code, by tier", own]);
  if (stress !== undefined) {
    others.set("stress", [
      "load raised until something breaks, and faults under load",
      stressPage.renderStress(stress, shownIn(ladders)),
    ]);
  }
  if (peers.length > 0) {
    const text = peersPage.renderPeers(peers, (room) => shownIn(rivals.get(room)));
    others.set("peers", ["other libraries and tools beside envoi", text]);
  }
  others.set("published", ["what was published for an earlier layer, on another machine", more.publishedPage(results)]);
  others.set("limits", ["each limit with its aim and its reason", more.limitsPage(results, targets)]);
  others.set("floors", ["what each floor does, and which rows have none", more.floorsPage(results)]);
  others.set("method", ["how the figures come about, and how two revisions are compared", more.methodPage()]);

  const due = new Map([...others].map(([name, [, text]]) => [`${FOLDER}/${name}.md`, text]));
  const about = new Map([...others].map(([name, [about]]) => [`${FOLDER}/${name}.md`, about]));
  const front = { results, targets, peers, pictures, headline: shown.inReadme, others: about };
  due.set("BENCHMARKS.md", page.render(front));
  const readme = await textOf(join(root, "README.md"));
  if (readme !== undefined) {
    const { names, rows } = shown.peersInReadme;
    const withFigures = page.fillFigures(readme, results, targets, shown.inReadme);
    due.set("README.md", page.fillPeers(withFigures, peers, names, rows));
  }
  for (const picture of [...pictures.values(), ...rivals.values(), ladders].flat()) {
    if (picture === undefined) continue;
    for (const theme of [light, dark])
      due.set(`${FOLDER}/charts/${picture.name}.${theme.name}.svg`, picture.draw(theme));
  }
  return due;
}

/** The charts and pages in the folder of results. */
async function madeIn(root: string): Promise<string[]> {
  const names = await readdir(join(root, FOLDER), { recursive: true }).catch(() => []);
  return names.filter((name) => /\.(svg|md)$/.test(name)).map((name) => `${FOLDER}/${name}`);
}

async function textOf(path: string): Promise<string | undefined> {
  const file = Bun.file(path);
  return (await file.exists()) ? file.text() : undefined;
}
