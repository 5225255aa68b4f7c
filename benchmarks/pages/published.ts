import { digits, duration, NANOSECONDS, quantity, table } from "../harness/format";
import type { SuiteResult } from "../harness/results";
import { type FigureName, readingOf } from "../harness/target";
import figures from "../published-figures.json";

const { targets, stress } = figures;

/** The targets that were published. */
export type PublishedName = keyof typeof targets | "heap growth";

/** A published target, and our figures that show whether it is met; the worst of them decides. */
export interface PublishedTarget {
  readonly target: PublishedName;
  /** What it is about, as the beginning of a sentence. */
  readonly about: string;
  readonly shownBy: readonly FigureName[];
}

/** The names of all that was published as a target; flat memory was, as a growth of nothing in the published stress run. */
export const publishedNames: readonly string[] = [...Object.keys(targets), "heap growth"];

/** What a published target demands of a figure, in the figure's own unit. */
interface Demand {
  /** As it stands in the table. */
  readonly limit: string;
  /** How far a figure is from its limit; above 1, it is missed. */
  readonly share: (value: number, unit: string) => number;
  readonly say: (value: number, unit: string, min: number, max: number) => string;
}

function inNanoseconds(value: number, unit: string): number {
  const size = NANOSECONDS[unit];
  if (size === undefined) throw new Error(`A published target about a time is shown by a figure in "${unit}".`);
  return value * size;
}

const time = (nanoseconds: number): Demand => ({
  limit: `p95 under ${duration(nanoseconds)}`,
  share: (value, unit) => inNanoseconds(value, unit) / nanoseconds,
  say: (value, unit) => duration(inNanoseconds(value, unit)),
});

/** In percent of the time: a row that takes `ratio` times as long as its floor spends 1 − 1 / ratio of its time on its own. */
const shareOf = (ratio: number): number => (1 - 1 / ratio) * 100;

const percentOf = (text: string): number => {
  const percent = Number(/[\d.]+/.exec(text)?.[0]);
  if (!(percent > 0)) throw new Error(`The published target "${text}" has no percentage in it.`);
  return percent;
};

const demands: Readonly<Record<PublishedName, Demand>> = {
  "createMessage p95": time(targets["createMessage p95"]),
  "routing p95": time(targets["routing p95"]),
  "files p95": time(targets["files p95"]),
  "code p95": time(targets["code p95"]),
  "throughput per second": {
    limit: `over ${digits(targets["throughput per second"])} /s`,
    share: (value) => targets["throughput per second"] / value,
    say: quantity,
  },
  "tool overhead": {
    limit: targets["tool overhead"],
    share: (ratio) => shareOf(ratio) / percentOf(targets["tool overhead"]),
    say: (ratio, _unit, min, max) => {
      const [share, least, most] = [ratio, min, max].map((each) => digits(Math.max(0, shareOf(each))));
      return `${share} % (${least}–${most} over its rounds)`;
    },
  },
  // The row is refused unless all are done, so that to have a figure is to meet it.
  "concurrent operations": {
    limit: `${targets["concurrent operations"]} at once`,
    share: () => 1,
    say: (value, unit) => `all done in ${duration(inNanoseconds(value, unit))} (p95)`,
  },
  "heap growth": {
    limit: `${stress.heapGrowthMB} MB: no leak`,
    share: (bytes) => (bytes > 0 ? 1 + bytes : 0),
    say: quantity,
  },
};

/** The table of the published targets: which figure of ours shows it, what it is here, and whether that meets it. */
export function publishedTable(published: readonly PublishedTarget[], results: readonly SuiteResult[]): string {
  return table(
    ["", "published target", "here", "", "shown by"],
    published.map(({ target, about, shownBy }) => {
      const { limit, share, say } = demands[target];
      const read = shownBy.flatMap((name) => {
        const reading = readingOf(name, results);
        return reading ? [{ name, ...reading, share: share(reading.value, reading.unit) }] : [];
      });
      const [worst] = read.toSorted((a, b) => b.share - a.share);
      const isWhole = read.length === shownBy.length;
      if (worst === undefined || !isWhole) return [about, limit, "–", "not measured", namesOf(shownBy)];
      const verdict = worst.share <= 1 ? "met" : "missed";
      const among = read.length > 1 ? `, the worst of ${read.length}` : "";
      return [
        about,
        limit,
        say(worst.value, worst.unit, worst.min, worst.max),
        verdict,
        `${nameOf(worst.name)}${among}`,
      ];
    }),
  );
}

const nameOf = ({ suite, row, figure }: FigureName): string => `${suite}: *${row}*, ${figure}`;
const namesOf = (names: readonly FigureName[]): string => names.slice(0, 1).map(nameOf).join();
