import { digits, duration, NANOSECONDS, table } from "../harness/format";
import type { SuiteResult } from "../harness/results";
import { measured, NONE } from "../harness/tables";
import { type FigureName, readingOf } from "../harness/target";
import figures from "../published-figures.json";
import { targets } from "../targets";
import { actorsShare } from "../targets/ratios";

const { targets: published, stress } = figures;

/** A published target, and our figures that show whether it is met; the worst of them decides. */
export interface PublishedTarget {
  /** As it was published. */
  readonly name: string;
  /** What it is about, as the beginning of a sentence. */
  readonly about: string;
  /** As it stands in the table. */
  readonly limit: string;
  readonly shownBy: readonly FigureName[];
  /** How far a figure is from its limit; above 1, it is missed. A time is in nanoseconds. */
  readonly share: (value: number) => number;
  /** Told with its lowest and highest round. Default: the figure with its unit. */
  readonly say?: (value: number, min: number, max: number) => string;
}

const latency = (row: string, figure = "p95"): FigureName => ({ suite: "latency", row, figure });
const namesOf = (all: readonly FigureName[]): FigureName[] =>
  all.map(({ suite, row, figure }) => ({ suite, row, figure }));
const slopes = targets.filter(({ suite, figure }) => suite === "memory" && figure.endsWith("slope, least"));

const p95 = (name: keyof typeof published & `${string} p95`, about: string, ...rows: string[]): PublishedTarget => ({
  name,
  about,
  limit: `p95 under ${duration(published[name])}`,
  shownBy: rows.map((row) => latency(row)),
  share: (nanoseconds) => nanoseconds / published[name],
});

/** In percent of the time: a row that takes `ratio` times as long as its floor spends 1 − 1 / ratio of its time on its own. */
const ownShare = (ratio: number): number => (1 - 1 / ratio) * 100;

/** All that was published as a target; flat memory was, as a growth of nothing in the published stress run. */
export const publishedTargets: readonly PublishedTarget[] = [
  p95("createMessage p95", "a message is made", "createMessage"),
  p95("routing p95", "an ask through the router and its reply", "router.ask(createMessage(…)), a round trip"),
  {
    name: "throughput per second",
    about: "messages a second, sustained",
    limit: `over ${digits(published["throughput per second"])} /s`,
    shownBy: [latency("sustained for 2 s: router.tell(createMessage(…))", "rate")],
    share: (rate) => published["throughput per second"] / rate,
  },
  p95("files p95", "a file is read or written, through the router", "read of 100 B", "write of 100 B"),
  p95("code p95", "code is run in the default tier", "execution, sandbox"),
  {
    name: "tool overhead",
    about: "the actors' share of the time of a run of code",
    limit: published["tool overhead"],
    shownBy: namesOf(actorsShare),
    share: (ratio) => ownShare(ratio) / Number(/[\d.]+/.exec(published["tool overhead"])?.[0]),
    say: (...ratios) => {
      const [share, least, most] = ratios.map((each) => digits(Math.max(0, ownShare(each))));
      return `${share} % (${least}–${most} over its rounds)`;
    },
  },
  {
    name: "concurrent operations",
    about: "operations at once, until all are done",
    limit: `${published["concurrent operations"]} at once`,
    shownBy: [latency("100 asks at once, until all have replied")],
    share: () => 1, // The row is refused unless all are done, so that to have a figure is to meet it.
    say: (nanoseconds) => `all done in ${duration(nanoseconds)} (p95)`,
  },
  {
    name: "heap growth",
    about: "bytes that a message or an actor leaves behind, the lower end of the slope's interval",
    limit: `${stress.heapGrowthMB} MB: no leak`,
    shownBy: namesOf(slopes),
    share: (bytes) => (bytes > 0 ? 1 + bytes : 0),
  },
];

/** The table of the published targets: which figure of ours shows it, what it is here, and whether that meets it. */
export const publishedTable = (results: readonly SuiteResult[], all = publishedTargets): string =>
  table(
    ["", "published target", "here", "", "shown by"],
    all.map(({ about, limit, shownBy, share, say }) => {
      const read = shownBy.flatMap((name) => {
        const reading = readingOf(name, results);
        if (reading === undefined) return [];
        const { value, unit, min, max } = reading;
        const [read = value, ...rounds] = [value, min, max].map((each) => each * (NANOSECONDS[unit] ?? 1));
        const text = say?.(read, rounds[0] ?? read, rounds[1] ?? read) ?? measured(value, unit);
        return [{ name, text, share: share(read) }];
      });
      const [worst] = read.toSorted((a, b) => b.share - a.share);
      const shown = ({ suite, row, figure }: FigureName) => `${suite}: *${row}*, ${figure}`;
      if (worst === undefined || read.length < shownBy.length)
        return [about, limit, NONE, "not measured", shownBy.slice(0, 1).map(shown).join()];
      const among = read.length > 1 ? `, the worst of ${read.length}` : "";
      return [about, limit, worst.text, worst.share <= 1 ? "met" : "missed", `${shown(worst.name)}${among}`];
    }),
  );
