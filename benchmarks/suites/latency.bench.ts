import { inFreshProcess } from "../harness/fresh-process";
import { latencyFigures, sustainedFigures } from "../harness/latency";
import { disk, type Place, tmpfs } from "../harness/places";
import type { Charted, LeftOut, Probe, Scale, Suite } from "../harness/suite";
import { whyNot } from "../subjects/code";

const OPERATIONS = new URL("../subjects/latency-process.ts", import.meta.url);
const SUSTAINED = new URL("../subjects/sustained-process.ts", import.meta.url);

const SMOKE = 50;

/** One operation after the other, so many of them, beside as many that do nothing. */
function each(name: string, subject: string, unit: "ns" | "µs", full: number): Probe {
  const sizes: Readonly<Record<Scale, number>> = { smoke: SMOKE, full };
  const nothing = unit === "ns" ? "clock" : "clockInMicroseconds";
  return {
    kind: "probe",
    name,
    figures: latencyFigures(unit),
    floor: {
      name: "the clock",
      measure: async (scale) => (await inFreshProcess<Charted>(OPERATIONS, nothing, sizes[scale])).readings,
    },
    measure: (scale) => inFreshProcess<Charted>(OPERATIONS, subject, sizes[scale]),
  };
}

function sustained(name: string, subject: string): Probe {
  const sizes: Readonly<Record<Scale, number>> = { smoke: 20, full: 2_000 };
  return {
    kind: "probe",
    name,
    figures: sustainedFigures,
    floor: { name: "raw", measure: (scale) => inFreshProcess(SUSTAINED, "raw", sizes[scale] / 4) },
    measure: (scale) => inFreshProcess(SUSTAINED, subject, sizes[scale]),
  };
}

const read = ({ name }: Place, isDisk: boolean) => `read of 100 B${isDisk ? "" : `, ${name}`}`;
const write = ({ name }: Place, isDisk: boolean) => `write of 100 B${isDisk ? "" : `, ${name}`}`;

const inMemory = "none" in tmpfs ? [] : [tmpfs];
const files: readonly Probe[] = [
  each(read(disk, true), "readsOnDisk", "µs", 10_000),
  each(write(disk, true), "writesOnDisk", "µs", 10_000),
  ...inMemory.flatMap((place) => [
    each(read(place, false), "readsInMemory", "µs", 10_000),
    each(write(place, false), "writesInMemory", "µs", 10_000),
  ]),
];

const sandbox = each("execution, sandbox", "sandboxExecutions", "µs", 10_000);
const whyNoSandbox = await whyNot("sandbox");
const whyNoTrusted = await whyNot("trusted");
const trusted = each("execution, trusted", "trustedExecutions", "µs", 20_000);
const code = [
  { probe: sandbox, why: whyNoSandbox },
  { probe: trusted, why: whyNoTrusted },
];

const withoutMemory: readonly LeftOut[] =
  "none" in tmpfs
    ? [
        { row: "read of 100 B, tmpfs", why: tmpfs.none },
        { row: "write of 100 B, tmpfs", why: tmpfs.none },
      ]
    : [];

export const suite: Suite = {
  name: "latency",
  about: [
    "Single operations, each timed by itself and one after the other, none of them left out: what *the clock* takes is in each time.",
    "Percentiles are of 100,000 messages or asks, 20,000 trusted executions, and 10,000 of what takes longer: requests of files,",
    "batches of 100 asks, executions in the sandbox; in a process of their own each round. What the slowest ones wait for is mostly",
    `the collector, the turn that an actor gives to timers and I/O, and the machine; on the disk (${disk.kind} here), the disk.`,
  ].join("\n"),
  rows: [
    each("createMessage", "messages", "ns", 100_000),
    each("router.ask(createMessage(…)), a round trip", "routerAsks", "ns", 100_000),
    each("ref.ask, a round trip", "refAsks", "ns", 100_000),
    each("100 asks at once, until all have replied", "hundredAsks", "µs", 10_000),
    ...files,
    ...code.filter(({ why }) => why === undefined).map(({ probe }) => probe),
    sustained("sustained for 2 s: ref.tell", "byRef"),
    sustained("sustained for 2 s: router.tell(createMessage(…))", "byRouter"),
  ],
  leftOut: [
    ...withoutMemory,
    ...code.flatMap(({ probe, why }) => (why === undefined ? [] : [{ row: probe.name, why }])),
  ],
};
