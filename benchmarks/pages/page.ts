import manifest from "../../package.json";
import { UsageError } from "../harness/arguments";
import { digits } from "../harness/format";
import type { SuiteResult } from "../harness/results";
import { type Line, linesOf, lineTable, SHORT } from "../harness/tables";
import { checkTargets, type FigureName, figureOf, isSame, QUIET, QUIET_ROW, type Target } from "../harness/target";
import { actorsTable, beside, type Peers, RIVALS, rivalsTable } from "./rivals";
import { charts, inReadme, peersInReadme } from "./shown";
import { image, type Shown, whereOf } from "./suite";

export interface Measured {
  readonly results: readonly SuiteResult[];
  readonly targets: readonly Target[];
  readonly peers?: Peers;
  /** The pictures of each suite, by its name; the page shows the first one. */
  readonly pictures?: ReadonlyMap<string, readonly Shown[]>;
  /** What the other pages are about, by their names. */
  readonly others?: ReadonlyMap<string, string>;
}

/** Where the pages beside BENCHMARKS.md, and the charts, are. */
export const FOLDER = "benchmarks/results";
const WORST = 10;
const NEAREST = 3; // How many figures the part of a suite shows: those nearest to their limits.
const LOOSE = 2; // A limit that is more than so many times the figure holds little.

type Checked = ReturnType<typeof checkTargets>;

export function render({ results, targets, peers = [], pictures, others = new Map() }: Measured): string {
  const lines = results.flatMap((result) => linesOf(result, targets));
  const checked = checkTargets(targets, results);
  const links = [...others].map(([name, about]) => `- [${name}.md](${FOLDER}/${name}.md): ${about}.`);
  return `${[
    INTRODUCTION,
    "## Summary",
    `**Is it fast?** One row of each kind. The floor is the same work without envoi, as quick as we could write it:\n\n${lineTable(choose(lines, inReadme), SHORT)}`,
    limits(checked, targets.filter((target) => figureOf(target, results) === undefined).length, lines),
    `**Where is it slow?** The ${WORST} figures that are furthest from their floors, baselines aside:\n\n${worst(lines)}`,
    ...(peers.length === 0 ? [] : [`**Against whom?** ${beside(peers)}`]),
    trust(results, peers),
    READING,
    ...results.map((result) => section(result, checked, lines, pictures?.get(result.suite)?.[0])),
    ...(peers.length === 0 ? [] : [`## Other libraries and tools\n\n${rivalsTable(peers)}\n\n${RIVALS}`]),
    `## More\n\n${links.join("\n")}`,
  ].join("\n\n")}\n`;
}

const INTRODUCTION = `# Benchmarks

Written by \`bun run bench\` from \`${FOLDER}/*.json\`. No figure is typed by hand, and a test fails when a page says something
else than the results. \`bun run bench\` in a clone of the repository, or \`bunx envoi bench\` where the package is installed, measures
on your machine (after \`bun add -d mitata@${manifest.peerDependencies.mitata}\`).`;

const READING = `## How to read it

- A **row** is one kind of work. *Here* is its median, or what a probe read, with its lowest and highest round.
- A row stands beside its **floor**: a program for that work without envoi, as quick as we could write it, such as a bare mailbox. envoi is below 1 where it does the work in another way. A **baseline** is other work, or contains envoi.
- Of a timer beside two actors, *raw* is no floor but the worst case: bare mailboxes that never let a timer fire.
- **Times the floor** is the median, over the rounds, of the row's median over its floor's in the same round, so not quite the quotient of the two figures beside it; with the lowest and the highest round. Of a rate, less is slower. It hardly depends on the machine.
- Rows whose rounds overlap are not in order: which of them is less may be chance.
- A **program**, in the name of a row, is an actor whose behaviour is source text (\`spawnProgram\`): it is compiled once, and its values are made JSON and back.
- Row and floor run in one process in turns, each round after a forced collection, so a slow moment meets both.
- Work is counted where it ends: in the handler, or on the reply. A row that does too little or too much has no figure.
- A sample of a short row averages many operations. The suite *latency* times each operation by itself.
- The **limit** is what \`bun run bench --check\` holds: of times the floor where the row is timed, else of *here*. A row has one for each figure that is held, so a suite may have more limits than rows. An **aim** is what would be good; one that is missed is shown and stops nobody. Reasons and aims are on [the page of limits](${FOLDER}/limits.md).
- A machine is **quiet** when the floor in the middle of all rows varies by at most ${digits(QUIET * 100)} % (standard deviation of its rounds, extremes aside). A row whose own floor varies by more than ${digits(QUIET_ROW * 100)} % is *unjudged*, kept or missed.
- The table of a suite has the ${NEAREST} figures that are nearest to their limits. Its own page has all rows.
- [How the figures come about](${FOLDER}/method.md) tells the rest.`;

const choose = (lines: readonly Line[], figures: readonly FigureName[]): Line[] =>
  figures.flatMap((figure) => lines.find((line) => isSame(line, figure)) ?? []);

const withSuite = (lines: readonly Line[]): Line[] =>
  lines.map((line) => ({ ...line, name: `${line.suite}: ${line.name}` }));

function limits({ checked, misses, unjudged }: Checked, without: number, lines: readonly Line[]): string {
  const of = (all: typeof misses) =>
    withSuite(lines.filter((line) => all.some(({ target }) => target === line.target)));
  const open = of(unjudged).map(({ name }) => `*${name}*`);
  const held = lines.filter(({ target }) => target !== undefined);
  const timed = held.filter(({ figure }) => figure === "ratio");
  const loose = timed.filter((line) => used(line) < 1 / LOOSE).length;
  return [
    `**What was kept?** ${checked - misses.length - open.length} of ${checked} limits; ${misses.length} missed, ${open.length} unjudged.`,
    ...(without === 0 ? [] : [`Newer rows have ${without} more, without a figure in these results.`]),
    ...(open.length === 0 ? [] : [`Unjudged, since the rounds of their floors lie too far apart: ${open.join("; ")}.`]),
    `Aims say what would be good, and hold nothing: ${held.filter(({ isAimMissed }) => !isAimMissed).length} of ${held.length} are met ([those missed](${FOLDER}/limits.md#missed-aims)).`,
    ...(loose === 0
      ? []
      : [
          `${loose} of ${timed.length} limits of timed rows are more than ${LOOSE} times what was measured: these hold little.`,
        ]),
    ...(misses.length === 0 ? [] : [`Missed:\n\n${lineTable(of(misses), [...SHORT, "aim"])}`]),
  ].join(" ");
}

function worst(lines: readonly Line[]): string {
  // More is better of a rate. A baseline is not what the row could come down to.
  const times = ({ ratio, unit, floor }: Line): number =>
    ratio === null || floor.startsWith("baseline") ? 0 : unit === "/s" ? 1 / ratio.median : ratio.median;
  const far = lines.filter((line) => times(line) > 1).sort((a, b) => times(b) - times(a));
  return lineTable(withSuite(far.slice(0, WORST)), SHORT);
}

function trust(results: readonly SuiteResult[], peers: Peers): string {
  const places = Object.entries(Object.groupBy(results, whereOf)).map(([where, [...suites] = []]) => {
    const noisy = suites.filter(({ noise }) => noise?.isNoisy).map(({ suite }) => suite);
    const spread = Math.max(0, ...suites.flatMap(({ noise }) => noise?.spread ?? []));
    const quiet =
      spread > 0
        ? ` In each suite, the floor in the middle of all rows varied by at most ${digits(spread * 100)} %; that of a single row may vary more.`
        : "";
    const told = noisy.length === 0 ? quiet : ` **Noisy in ${noisy.join(", ")}.**${quiet}`;
    return `- ${suites.map(({ suite }) => suite).join(", ")}: ${where}.${told}`;
  });
  for (const [where, rooms = []] of Object.entries(Object.groupBy(peers, whereOf)))
    places.push(`- other libraries and tools (${rooms.map(({ room }) => room).join(", ")}): ${where}.`);
  return `**Can I trust it?** Each row was measured in turns with its floor, and its work was counted. All figures are in
\`${FOLDER}/*.json\`. They are of the machine and the commit named here, not of the newest code:

${places.join("\n")}`;
}

function section({ suite, rows }: SuiteResult, { misses, unjudged }: Checked, all: readonly Line[], shown?: Shown) {
  const lines = all.filter((line) => line.suite === suite);
  const limits = lines.filter(({ target }) => target !== undefined).length;
  const [missed = 0, open = 0] = [misses, unjudged].map(
    (all) => all.filter(({ target }) => target.suite === suite).length,
  );
  const others = [missed > 0 ? `, ${missed} missed` : "", open > 0 ? `, ${open} unjudged` : ""].join("");
  const kept = `${limits - missed - open} of ${limits} limits kept${others}`;
  return [
    `## ${suite}`,
    `**${charts[suite]?.[0] ?? ""}** ${kept}. [All ${rows.length} rows](${FOLDER}/${suite}.md).`,
    ...(shown === undefined ? [] : [image(shown, `${FOLDER}/charts`)]),
    lineTable(lines.toSorted((a, b) => used(b) - used(a)).slice(0, NEAREST), SHORT),
  ].join("\n\n");
}

function used({ figure, ratio, value, target }: Line): number {
  const judged = figure === "ratio" ? (ratio?.median ?? 0) : value;
  if (target === undefined || !("atMost" in target)) return target === undefined ? 0 : target.atLeast / judged;
  return target.atMost > 0 ? judged / target.atMost : Math.sign(judged) + 1;
}

/** A README with its two tables, each between its markers: envoi's own costs, and other libraries of actors. */
export function fillReadme(readme: string, { results, targets, peers = [] }: Measured): string {
  const lines = results.flatMap((result) => linesOf(result, targets));
  const { names, rows } = peersInReadme;
  const tables = { figures: lineTable(choose(lines, inReadme), SHORT), peers: actorsTable(peers, names, rows) };
  return Object.entries(tables).reduce((text, [what, table]) => {
    const between = new RegExp(`(<!-- ${what}:begin -->\n)[\\s\\S]*?(<!-- ${what}:end -->)`);
    if (!between.test(text)) throw new UsageError(`README.md lacks <!-- ${what}:begin --> or <!-- ${what}:end -->.`);
    return text.replace(between, (_, begin, end) => `${begin}${table}\n${end}`);
  }, readme);
}
