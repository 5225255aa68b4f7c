import type { Floor, Prepared, Probe, Row } from "../../benchmarks/harness/suite";
import type { Surroundings } from "../../benchmarks/harness/terminal";

/** Work that counts what it does; `done` tells how much of the work asked for it does. */
export function counting(operations: number, done = operations): Prepared {
  let completed = 0;
  const run = () => {
    completed += done;
  };
  return { run, completed: () => completed };
}

/** A floor that counts. */
export const countingFloor: Floor = { name: "counting", about: "adds to a number", setup: counting };

/** A row as it should be, with what a test changes. */
export const row = (changes: Partial<Row> = {}): Row => ({
  kind: "timed",
  name: "a row",
  operations: 10,
  per: 1,
  floor: countingFloor,
  setup: () => counting(10),
  ...changes,
});

/** A probe that reads one figure, with what a test changes. */
export const probe = (changes: Partial<Probe> = {}): Probe => ({
  kind: "probe",
  name: "a probe",
  figures: [{ name: "bytes", unit: "B", ratio: true }],
  floor: { name: "raw", measure: async () => ({ bytes: 200 }) },
  measure: async () => ({ bytes: 300 }),
  ...changes,
});

/** What the benchmarks touch, with nothing behind it but what a test gives, and what they said. */
export function surroundings(root: string, changes: Partial<Surroundings> = {}) {
  const said = { out: "", err: "" };
  const around: Surroundings = {
    root,
    command: "bun run bench",
    suites: async () => [],
    targets: [],
    isCheckout: true,
    isTerminal: true,
    signal: new AbortController().signal,
    writePages: async () => {},
    compare: async () => 0,
    soak: async () => 0,
    out: (text) => {
      said.out += text;
    },
    err: (text) => {
      said.err += text;
    },
    progress: () => {},
    ...changes,
  };
  return { around, said };
}
