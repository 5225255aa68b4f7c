import { FAULTS } from "../../../benchmarks/stress/faults";
import type { Ladder, StressResults, Trouble, Window } from "../../../benchmarks/stress/results";

/** A window in which all went well, unless it says otherwise. */
export const window = (rate: number, changes: Partial<Window> = {}): Window => ({
  rate,
  due: 30_000,
  ok: 30_000,
  errors: {},
  ...{ p50: 0.8, p95: 2, p99: 4, p999: 9 },
  operations: { ask: 1.5 },
  ...{ lag: 1.1, generator: 0.2, subject: 0.9, rss: 100e6 },
  ...changes,
});

const refused = { ok: 20_000, errors: { "ask mailbox-full": 10_000 } };

const trouble: Trouble = {
  before: window(50_000),
  during: [window(165_000, refused)],
  after: window(50_000),
  recovery: 412,
  audit: { accepted: 100_000, handled: 81_000, failed: 0, dead: 19_000, queued: 0, running: 0 },
  failed: [],
};

export const overload: Ladder["overload"] = {
  ...trouble,
  during: [window(165_000, refused), window(165_000, { ok: 20_000, errors: { "ask unanswered": 10_000 } })],
  heap: { before: 8e6, during: [12e6, 12.5e6], after: 8.5e6 },
};

const ladder = (name: string): Ladder => ({
  name,
  about: "asks of one actor through the router",
  steps: [window(100_000), window(110_000, refused), window(105_000, { lag: 60 })],
  held: 100_000,
  broke: 110_000,
  why: "33 % of the requests went wrong, most of them: ask mailbox-full",
  floor: window(110_000),
  overload,
});

/** Results of stress as a full run has them. */
export const results: StressResults = {
  machine: {
    ...{ cpu: "A processor", cores: 2, system: "Linux 6.1 x64" },
    ...{ bun: "1.4.5", commit: "abc1234", date: "2026-02-03" },
  },
  seconds: 280,
  ladders: [ladder("messaging only"), ladder("all together")],
  faults: FAULTS.map(({ name, about }) => ({
    name,
    about,
    ...trouble,
    during: [window(1_000, { ok: 29_000, errors: { "code crashed": 1_000 } })],
    happened: { "processes killed": 10, "runs lost": 3, "dead letters": 0 },
  })),
};
