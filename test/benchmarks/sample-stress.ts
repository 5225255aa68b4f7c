import type { StressResults, WindowResult } from "../../benchmarks/stress/results";
import { result } from "./sample-result";

/** A window of load in which one in a hundred requests took `p99` milliseconds. */
export function window(rate: number, p99 = 9): WindowResult {
  const latency = { count: 5_000, p50: 2, p95: 5, p99, p999: null, max: 2 * p99 };
  const all = { due: 5_000, ok: 5_000, errors: {}, latency };
  return {
    rate,
    milliseconds: 1_000,
    all,
    operations: { ask: all },
    generator: { lag: 0.2, processor: 0.1 },
    subject: { processor: 0.5, rss: 90e6 },
  };
}

/** The results of a stress run with one ladder, which broke at 4,000 requests a second. */
export function stressResult(): StressResults {
  const { machine } = result({});
  const latency = window(1_000).all.latency;
  const audit = { accepted: 9, handled: 9, failed: 0, dead: 0, queued: 0, running: 0 };
  const held = { verdict: "held", why: "" } as const;
  return {
    machine: { ...machine },
    seconds: 60,
    scenarios: [
      {
        messages: 1_000,
        batch: 50,
        isolation: "sandbox",
        throughput: 41_234,
        heapGrowth: 10_000,
        kinds: { files: latency, code: latency, streaming: latency },
      },
    ],
    stall: { milliseconds: 200, rate: 1_000, open: latency, closed: latency },
    capacity: { steps: [], held: 90_000, why: "the generator was the limit" },
    ladders: [
      {
        name: "all kinds",
        about: "a mix",
        mix: { ask: 1 },
        steps: [
          { window: window(1_000), ...held },
          { window: window(2_000, 20), ...held },
          { window: window(4_000, 900), verdict: "broke", why: "one in 100 requests took 900 ms" },
        ],
        held: 2_000,
        broke: 4_000,
        why: "one in 100 requests took 900 ms",
        overload: {
          calm: 1_000,
          over: 8_000,
          before: window(1_000),
          during: [window(8_000, 950)],
          after: window(1_000),
          recovery: 40,
          heap: { before: 5e6, during: [9e6], after: 5e6 },
          audit,
          failed: [],
        },
      },
    ],
    faults: [],
  };
}
