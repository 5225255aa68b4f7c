import { inFreshProcess } from "./fresh-process";
import type {
  Charted,
  Floor,
  Limit,
  NoFloor,
  Prepared,
  Probe,
  ProbeFigure,
  Readings,
  Row,
  Scale,
  Suite,
} from "./suite";
import { Completion } from "./suite";

/** A row with what it must keep, and what the machine lacks for it, as the end of a sentence. */
export interface Declared {
  readonly row: Row | Probe;
  readonly limits: readonly Limit[];
  readonly lacks?: string | undefined;
}

/** How many times its floor a row may take, what would be good, and why this much; or only why there is no limit. */
export type Most = readonly [atMost: number, aim: number, reason: string] | string;

type Work = (operations: number) => Prepared | Promise<Prepared>;

/** A row that mitata times. By default a call does 1,000 operations, and a figure is of one. */
export function timed(
  name: string,
  floor: Floor | NoFloor,
  work: Work,
  most: Most,
  more: Partial<Pick<Row, "operations" | "per" | "pieces" | "warmUp">> = {},
): Declared {
  const { per = 1, operations = Math.max(per, 1_000) } = more;
  const limits =
    typeof most === "string" ? [] : [{ row: name, figure: "ratio", atMost: most[0], aim: most[1], reason: most[2] }];
  return { row: { kind: "timed", name, floor, ...more, per, operations, setup: () => work(operations) }, limits };
}

type Bound = "atMost" | "atLeast";

export type Kept = readonly [figure: string, bound: Bound, limit: number, aim: number, reason: string];

export function probe(
  name: string,
  figures: readonly ProbeFigure[],
  floor: Probe["floor"] | string,
  measure: Probe["measure"],
  kept: readonly Kept[] = [],
  more: Pick<Probe, "rounds"> = {},
): Declared & { readonly row: Probe } {
  const under = typeof floor === "string" ? { none: floor } : floor;
  const limits = kept.map(([figure, bound, limit, aim, reason]): Limit => {
    const named = { row: name, figure, aim, reason };
    return bound === "atMost" ? { ...named, atMost: limit } : { ...named, atLeast: limit };
  });
  return { row: { kind: "probe", name, figures, floor: under, measure, ...more }, limits };
}

export const figures = (unit: ProbeFigure["unit"], ...names: readonly string[]): ProbeFigure[] =>
  names.map((name) => ({ name, unit, ratio: false }));

export const withRatio = (unit: ProbeFigure["unit"], ...names: readonly string[]): ProbeFigure[] =>
  names.map((name) => ({ name, unit, ratio: true }));

/** An exported function of a module, called in a process of its own with how much it is to do. */
export const apart =
  <Read extends Readings | Charted = Readings>(
    module: string,
    subject: string,
    sizes: Readonly<Record<Scale, number>>,
    environment: Readonly<Record<string, string>> = {},
  ) =>
  (scale: Scale): Promise<Read> =>
    inFreshProcess<Read>(new URL(module), subject, sizes[scale], environment);

/** Rows that need something; where it is lacking, they are left out, and the page says why. */
export const needing = (lacks: string | undefined, rows: readonly Declared[]): Declared[] =>
  rows.map((each) => ({ ...each, lacks: each.lacks ?? lacks }));

/** A suite of rows, each declared in one place with its floor and its limits. */
export const suiteOf = (name: string, about: string, all: readonly Declared[]): Suite => ({
  name,
  about,
  rows: all.flatMap(({ row, lacks }) => (lacks === undefined ? [row] : [])),
  leftOut: all.flatMap(({ row, lacks }) => (lacks === undefined ? [] : [{ row: row.name, why: lacks }])),
  limits: all.flatMap(({ limits }) => limits),
});

// Loops that rows and floors share. None has a call for each message: that would be measured with it.

type More = Omit<Prepared, "run" | "completed">;

export function counted(work: () => number | Promise<number>, more: More = {}): Prepared {
  let completed = 0;
  const add = (done: number): void => {
    completed += done;
  };
  const run = () => {
    const done = work();
    return typeof done === "number" ? add(done) : done.then(add);
  };
  return { run, completed: () => completed, ...more };
}

/** Batches of `width` messages, each sent by one call of what `open` gives, until the last of it has called `arrive`. */
export function batches(
  operations: number,
  width: number,
  open: (arrive: () => boolean) => (first: number) => void,
  teardown?: () => unknown,
): Prepared {
  const completion = new Completion();
  const send = open(completion.arrive);
  const run = async () => {
    for (let sent = 0; sent < operations; sent += width) {
      const done = completion.expect(width);
      send(sent);
      await done;
    }
  };
  return { run, completed: completion.completed, ...(teardown && { teardown }) };
}

/** One step after the other, each of `width` operations, by its number since the beginning; `step` tells whether it was done right. */
export function steps(operations: number, step: (index: number) => boolean, more: More = {}, width = 1): Prepared {
  let index = 0;
  return counted(() => {
    let done = 0;
    for (let i = 0; i < operations; i += width) if (step(index++)) done += width;
    return done;
  }, more);
}

/** The same of steps that are awaited, each before the next; they take microseconds. */
export function slowSteps(
  operations: number,
  step: (index: number) => Promise<boolean>,
  more: More = {},
  width = 1,
): Prepared {
  let index = 0;
  return counted(async () => {
    let done = 0;
    for (let i = 0; i < operations; i += width) if (await step(index++)) done += width;
    return done;
  }, more);
}
