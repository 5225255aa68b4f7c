/** Measures the timed rows of a suite with the build that it lies in: `worker.ts SUITE`. */
import { join } from "node:path";
import { Sampler } from "../harness/sampling";
import { ascending, quantile, SAMPLES_FOR_P99 } from "../harness/statistics";
import type { Prepared, Readings, Suite } from "../harness/suite";
import { follow } from "../harness/worker";

/** It has one row at a time, which is begun, has its turns, and ends. Times are in milliseconds. */
export type Order =
  | { readonly order: "begin"; readonly row: string; readonly warmUp: number }
  | { readonly order: "turn"; readonly length: number }
  | { readonly order: "end" };

const MS = 1e6;
/** The share of a turn's samples below its time: two like builds were half as far apart by it as by their median. */
const QUICKEST = 0.1;

if (import.meta.main) {
  const loading: Promise<{ readonly suite: Suite }> = import(
    join(import.meta.dir, "../suites", `${process.argv[2]}.bench.ts`)
  );
  let prepared: Prepared | undefined;
  let sampler: Sampler | undefined;
  let turns: (readonly number[])[] = [];
  let per = 1;

  const putAway = async (): Promise<void> => {
    const row = prepared;
    prepared = sampler = undefined;
    await row?.teardown?.();
  };
  const begin = async (name: string, warmUp: number): Promise<void> => {
    const row = (await loading).suite.rows.find((each) => each.name === name);
    if (row?.kind !== "timed") throw new Error("there is no such row");
    turns = [];
    per = row.per;
    prepared = await row.setup();
    sampler = new Sampler(name, row.operations, prepared);
    await sampler.warmUp(warmUp * MS);
    Bun.gc(true);
  };
  const end = async (): Promise<Readings> => {
    await putAway();
    const all = ascending(turns.flat());
    // Disturbances make a turn longer, so the shortest is the least disturbed.
    const time = Math.min(...turns.map((turn) => quantile(ascending(turn), QUICKEST))) * per;
    return { time, ...(all.length >= SAMPLES_FOR_P99 && { p99: quantile(all, 0.99) * per }) };
  };
  follow<Order>(async (given): Promise<Readings> => {
    if (given.order === "end") return end();
    if (given.order === "begin") await begin(given.row, given.warmUp);
    else if (sampler) turns.push((await sampler.turn(given.length * MS)).samples);
    return {};
  }, putAway);
}
