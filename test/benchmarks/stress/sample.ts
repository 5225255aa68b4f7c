import { FAULTS } from "../../../benchmarks/stress/faults/faults";
import type { Ladder, Overload, StressResults, WindowResult } from "../../../benchmarks/stress/results";

const latency = { count: 30_000, p50: 0.8, p95: 2, p99: 4, p999: 9, max: 12 };

/** A window in which all went well, unless it says otherwise. */
export const window = (rate: number, changes: Partial<WindowResult["all"]> = {}): WindowResult => {
  const all = { due: 30_000, ok: 30_000, errors: {}, latency, ...changes };
  return {
    rate,
    milliseconds: 3_000,
    all,
    operations: { ask: all },
    generator: { lag: 1.1, processor: 0.2 },
    subject: { processor: 0.9, rss: 100e6 },
  };
};

export const overload: Overload = {
  calm: 50_000,
  over: 165_000,
  before: window(50_000),
  during: [
    window(165_000, { ok: 20_000, errors: { "mailbox-full": 9_000, unanswered: 1_000 } }),
    window(165_000, { ok: 20_000, errors: { "mailbox-full": 10_000 } }),
  ],
  after: window(50_000),
  recovery: 412,
  heap: { before: 8e6, during: [12e6, 12.5e6], after: 8.5e6 },
  audit: { accepted: 100_000, handled: 81_000, failed: 0, dead: 19_000, queued: 0, running: 0 },
  failed: [],
};

const ladder = (name: string): Ladder => ({
  name,
  about: "asks of one actor through the router",
  mix: { ask: 1 },
  steps: [
    { window: window(100_000), verdict: "held", why: "" },
    {
      window: window(110_000, { ok: 20_000, errors: { "mailbox-full": 10_000 } }),
      verdict: "broke",
      why: "33 % of the requests went wrong, most of them: mailbox-full",
    },
    { window: window(105_000), verdict: "void", why: "the generator sent one in 100 requests 60 ms late" },
  ],
  held: 100_000,
  broke: 110_000,
  why: "33 % of the requests went wrong, most of them: mailbox-full",
  overload,
});

const kinds = { streaming: { ...latency, p95: 1.5 }, files: { ...latency, p95: 0.7 }, code: { ...latency, p95: 3.2 } };
const scenario = { batch: 50, throughput: 12_345, heapGrowth: 210_000, kinds };

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
  seconds: 280,
  scenarios: [
    { ...scenario, messages: 1_000, isolation: "sandbox" },
    { ...scenario, messages: 1_000, isolation: "trusted" },
    { ...scenario, messages: 100_000, isolation: "sandbox" },
  ],
  capacity: {
    steps: [{ window: window(500_000), verdict: "held", why: "" }],
    held: 500_000,
    why: "the generator used 95 % of a processor",
  },
  ladders: [ladder("messaging only"), ladder("all together")],
  faults: FAULTS.map(({ name, about }) => ({
    name,
    about,
    before: window(1_000),
    during: window(1_000, { ok: 29_000, errors: { crashed: 1_000 } }),
    after: window(1_000),
    recovery: 230,
    happened: { "processes killed": 10, "runs lost": 3 },
    audit: overload.audit,
    failed: [],
  })),
};
