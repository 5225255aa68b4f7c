import type { SuiteResult } from "../../benchmarks/harness/results";

/** The results of a suite with a timed row, one without a floor, and a probe. */
export function result({ suite = "routing", ratio = 1.31, ticks = 39 }): SuiteResult {
  const shape = {
    kind: "timed",
    operationsPerSample: 1000,
    min: 90,
    mean: 140,
    p75: 130.4,
    p95: 180,
    seconds: 1.2,
  } as const;
  const ask = { row: "ref.ask", per: 1, samples: 4000, p50: 128.3, p99: 999.9, throughput: 7_123_456 };
  const asks = { row: "concurrent: 10 asks", per: 10, samples: 200, p50: 1_530, p99: null, throughput: 900 };
  const floor = { name: "raw ask", about: "asks", p50: 98.04, rounds: [97.1, 98.04, 99.3] };
  const beside = { floor: { median: 2, min: 2, max: 2 }, ratio: null };
  const machine = { cpu: "A Processor", cores: 2, system: "Linux 6 x64", bun: "1.4.5" };
  return {
    suite,
    about: "What it is about.",
    machine: { ...machine, commit: "abc1234", date: "2026-02-03" },
    rounds: 9,
    rows: [
      { ...shape, ...ask, floor, ratio: { median: ratio, min: 1.2, max: 1.5 } },
      { ...shape, ...asks, floor: { none: "it has no like" }, ratio: null },
      {
        ...{ kind: "probe", row: "timer", floor: { name: "raw" }, seconds: 2 },
        figures: [{ figure: "ticks", unit: "", median: ticks, min: 38, max: 40, ...beside }],
      },
    ],
  };
}
