import { digits } from "./format";
import { revisionOf } from "./machine";
import { INTRODUCTION, METHOD } from "./method";
import { type PublishedTarget, publishedTable } from "./published-targets";
import type { SuiteResult } from "./results";
import { suiteNotes, suiteTables, targetTable } from "./tables";
import type { FigureName, Target } from "./target";

const ORDER = ["message-creation", "routing", "patterns", "files", "code", "gaps", "memory", "latency", "startup"];
const rank = (suite: string): number => (ORDER.includes(suite) ? ORDER.indexOf(suite) : ORDER.length);

/** The suites in the order of the page: those with published figures first, then by name. */
export function inOrder<Named>(items: readonly Named[], nameOf: (item: Named) => string): Named[] {
  return [...items].sort((a, b) => rank(nameOf(a)) - rank(nameOf(b)) || (nameOf(a) < nameOf(b) ? -1 : 1));
}

/** A picture that the page shows, in a light and in a dark file. */
export interface Shown {
  readonly name: string;
  /** What it shows, for who does not see it. */
  readonly alt: string;
}

/** What the page has beside the results of the suites. */
export interface Beside {
  /** The pictures of each suite, by its name. */
  readonly pictures: ReadonlyMap<string, readonly Shown[]>;
  /** Which figures show whether a published target is met. */
  readonly published: readonly PublishedTarget[];
  /** What comes after the suites. */
  readonly sections: readonly Section[];
}

/** A part of the page that is about no suite. */
export interface Section {
  readonly title: string;
  readonly pictures: readonly Shown[];
  readonly text: string;
}

const NOTHING: Beside = { pictures: new Map(), published: [], sections: [] };

/**
 * The whole of BENCHMARKS.md, from the results alone: the same results give the same text.
 *
 * @example
 * render(await readResults("benchmarks/results"), targets)
 */
export function render(results: readonly SuiteResult[], targets: readonly Target[], beside: Beside = NOTHING): string {
  const ordered = inOrder(results, ({ suite }) => suite);
  const { pictures, published, sections } = beside;
  const parts = [
    INTRODUCTION,
    contents(ordered, sections),
    METHOD,
    published.length === 0 ? "" : publishedPart(published, results),
    floors(ordered),
    ...ordered.map((result) => suitePart(result, targets, pictures.get(result.suite) ?? [])),
    ...sections.map(({ title, pictures: shown, text }) => [`## ${title}`, ...shown.map(picture), text].join("\n\n")),
  ];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

/** What a code host makes of a heading for its address. */
const anchor = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s-]/gu, "")
    .replaceAll(" ", "-");

function contents(results: readonly SuiteResult[], sections: readonly Section[]): string {
  const titles = [...results.map(({ suite }) => suite), ...sections.map(({ title }) => title)];
  const items = titles.map((title) => `[${title}](#${anchor(title)})`);
  return items.length === 0 ? "" : `On this page: ${items.join(", ")}.`;
}

function publishedPart(published: readonly PublishedTarget[], results: readonly SuiteResult[]): string {
  return [
    "## Published targets",
    "What an earlier layer set itself as targets, and the figures here that show whether envoi meets them.",
    publishedTable(published, results),
  ].join("\n\n");
}

function floors(results: readonly SuiteResult[]): string {
  const about = new Map<string, string>();
  for (const { rows } of results) {
    for (const { floor } of rows) if ("about" in floor) about.set(floor.name, floor.about);
  }
  if (about.size === 0) return "";
  return `## The floors\n\n${[...about].map(([name, text]) => `- *${name}*: ${text}.`).join("\n")}`;
}

function suitePart(result: SuiteResult, targets: readonly Target[], shown: readonly Shown[]): string {
  const parts = [
    `## ${result.suite}`,
    result.about,
    where(result),
    ...shown.map(picture),
    suiteTables(result, targets),
  ];
  const notes = suiteNotes(result);
  if (notes.length > 0) parts.push(notes.join("\n"));
  return parts.join("\n\n");
}

/** Where and when a suite was measured, how often, and whether the machine was quiet. */
function where({ machine, rounds, probeRounds = rounds, noise }: SuiteResult): string {
  const { cpu, cores, system, bun, date } = machine;
  const often = probeRounds === rounds ? `${rounds} rounds` : `${rounds} rounds, ${probeRounds} of what is no loop`;
  const told = `${cpu}, ${cores} cores, ${system}; Bun ${bun}; ${revisionOf(machine)}; ${date}; ${often}`;
  if (noise === undefined) return `${told}.`;
  const spread = `${digits(noise.spread * 100)} %`;
  return noise.isNoisy
    ? `${told}. **The machine was noisy**: its floors varied by ${spread}, and so may these figures.`
    : `${told}; a quiet machine, whose floors varied by ${spread}.`;
}

/** Where the charts are, from the page. */
export const CHARTS = "benchmarks/results/charts";

/** An image by itself follows the theme of the system; code hosts have `picture` follow that of the page. */
function picture({ name, alt }: Shown): string {
  const file = (theme: string) => `${CHARTS}/${name}.${theme}.svg`;
  return [
    "<picture>",
    `  <source media="(prefers-color-scheme: dark)" srcset="${file("dark")}">`,
    `  <img alt="${Bun.escapeHTML(alt)}" src="${file("light")}">`,
    "</picture>",
  ].join("\n");
}

const BEGIN = "<!-- figures:begin -->";
const END = "<!-- figures:end -->";

/** A README with a table of some figures between its two markers; unchanged when it has no such markers. */
export function fillFigures(
  readme: string,
  results: readonly SuiteResult[],
  targets: readonly Target[],
  figures: readonly FigureName[] = targets,
): string {
  const begin = readme.indexOf(BEGIN);
  const end = readme.indexOf(END, begin);
  if (begin < 0 || end < 0) return readme;
  return `${readme.slice(0, begin + BEGIN.length)}\n${targetTable(results, targets, figures)}\n${readme.slice(end)}`;
}
