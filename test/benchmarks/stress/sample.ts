import { FAULTS } from "../../../benchmarks/stress/faults";
import type { Ladder, StressResults, Trouble, Window } from "../../../benchmarks/stress/results";

/** A window in which all went well, unless it says otherwise. */
export const window = (rate: number, changes: Partial<Window> = {}): Window => ({
  ...{ rate, due: 30_000, ok: 30_000, errors: {} },
  ...{ p50: 0.8, p95: 2, p99: 4, operations: { ask: 1.5 }, lag: 1.1 },
  ...changes,
});

const refused = { ok: 20_000, errors: { "ask mailbox-full": 10_000 } };

export const trouble: Trouble = {
  name: "more than it bears",
  about: "Past the break, 220,000 requests a second are asked for.",
  before: window(50_000),
  during: [window(220_000, refused), window(220_000, refused)],
  after: window(50_000),
  recovery: 412,
  happened: { "requests refused": 20_000, "dead letters": 0 },
  heap: [8e6, 12e6, 12.5e6, 8.5e6],
  audit: { accepted: 100_000, handled: 81_000, failed: 0, dead: 19_000, queued: 0, running: 0 },
  failed: [],
};

const ladder = (name: string): Ladder => ({
  name,
  about: "asks of one actor through the router",
  steps: [window(100_000), window(110_000, refused), window(105_000, { lag: 60 })],
  held: 100_000,
  broke: 110_000,
  why: "33 % of the requests went wrong, most of them: ask mailbox-full",
  floor: window(110_000),
  overload: trouble,
});

/** Results of stress as a full run has them. */
export const results: StressResults = {
  machine: {
    cpu: "A processor",
    cores: 2,
    system: "Linux 6.1 x64",
    bun: "1.4.5",
    commit: "abc1234",
    date: "2026-02-03",
  },
  ladders: [ladder("messaging only"), ladder("all together")],
  faults: FAULTS.map(({ name, about }) => ({ ...trouble, name, about, heap: [] })),
};
