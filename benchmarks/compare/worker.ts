/** Measures rows of the suites that lie beside it, as it is ordered over its channel: one build in one process. */
import { join } from "node:path";
import { Sampler } from "../harness/sampling";
import { ascending, quantile } from "../harness/statistics";
import type { Prepared, Probe, Readings, Row, Suite } from "../harness/suite";
import type { Answer, Answers, Order, Outline } from "./orders";

/** A row that was begun. */
interface Begun {
  readonly row: Row;
  readonly prepared: Prepared;
  readonly sampler: Sampler;
}

/**
 * The share of a turn's samples that lie below its figure. Two like builds, on a machine with six other things to do, were half as
 * far apart by their first decile as by their median; what happens now and then, such as a collection, is what memory's rows show.
 */
const LEAST_DISTURBED = 0.1;

let suite: Suite | undefined;
let begun: Begun | undefined;

async function load(name: string): Promise<Answers["load"]> {
  const file = join(import.meta.dir, "../suites", `${name}.bench.ts`);
  const loaded: { suite: Suite } = await import(file);
  suite = loaded.suite;
  return { rows: suite.rows.map(outline), leftOut: suite.leftOut ?? [] };
}

const outline = (row: Row | Probe): Outline =>
  row.kind === "timed" ? { kind: "timed", row: row.name } : { kind: "probe", row: row.name, figures: row.figures };

function find<Kind extends "timed" | "probe">(kind: Kind, name: string): Extract<Row | Probe, { kind: Kind }> {
  for (const row of suite?.rows ?? []) {
    // The compiler does not see that a row of this kind is one of that type.
    if (row.kind === kind && row.name === name) return row as Extract<Row | Probe, { kind: Kind }>;
  }
  throw new Error(`there is no row "${name}"`);
}

async function begin(name: string, warmUp: number): Promise<null> {
  const row = find("timed", name);
  const prepared = await row.setup();
  const sampler = new Sampler(row.name, row.operations, prepared);
  begun = { row, prepared, sampler };
  await sampler.warmUp(warmUp);
  return null;
}

async function turn(nanoseconds: number): Promise<number> {
  if (begun === undefined) throw new Error("no row was begun");
  const { samples } = await begun.sampler.round(nanoseconds);
  return quantile(ascending(samples), LEAST_DISTURBED) * begun.row.per;
}

async function end(): Promise<null> {
  const ended = begun;
  begun = undefined;
  await ended?.prepared.teardown?.();
  return null;
}

async function probe(name: string): Promise<Readings> {
  const measured = await find("probe", name).measure("full");
  // What a probe gives beside its readings is the lines of charts.
  return typeof measured["readings"] === "object" ? measured["readings"] : (measured as Readings);
}

function follow(order: Order): Promise<Answers[Order["order"]]> {
  switch (order.order) {
    case "load":
      return load(order.suite);
    case "begin":
      return begin(order.row, order.warmUp);
    case "turn":
      return turn(order.nanoseconds);
    case "end":
      return end();
    case "probe":
      return probe(order.row);
  }
}

async function answer(order: Order): Promise<void> {
  let given: Answer;
  try {
    given = { value: await follow(order) };
  } catch (error) {
    given = { failed: error instanceof Error ? error.message : String(error) };
  }
  process.send?.(given);
}

// Rows and what they share remove their files when they end, or when the process exits as it should.
const leave = (): void => {
  void end().finally(() => process.exit(0));
};
process.on("message", answer);
process.on("disconnect", leave);
process.on("SIGTERM", leave);
