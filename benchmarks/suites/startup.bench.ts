import { commandFor, missingPeers } from "../harness/shipped";
import type { LeftOut, Probe, ProbeFigure, Scale, Suite } from "../harness/suite";
import { home } from "../subjects/installation";
import { sizeOf } from "../subjects/size";
import { startsOf } from "../subjects/starts";
import { missingCompiler, typeCheck } from "../subjects/type-check";

const figures = (unit: ProbeFigure["unit"], ...names: readonly string[]): ProbeFigure[] =>
  names.map((name) => ({ name, unit, ratio: false }));

const BESIDE = "an empty file is started in turns with it, which is its figure *bare Bun*";

/** A program of `subjects/starts`, started again and again. */
const started = (name: string, program: string, full = 15): Probe => ({
  kind: "probe",
  name,
  figures: figures("ms", "time", "bare Bun", "over bare Bun"),
  floor: { none: BESIDE },
  measure: (scale) => startsOf(program, { smoke: 1, full }[scale]),
});

const sized = (name: string, entry: "index" | "tools"): Probe => ({
  kind: "probe",
  name,
  figures: figures("kB", "minified", "gzip", "minified, our own", "gzip, our own"),
  floor: { none: "a bundle without it has none of it" },
  measure: () => sizeOf(entry),
});

const SERVICES: Readonly<Record<Scale, number>> = { smoke: 2, full: 200 };

const checked: Probe = {
  kind: "probe",
  name: "tsc of a project with 200 protocols",
  figures: [...figures("s", "time", "without envoi"), ...figures("ms", "a protocol")],
  floor: { none: "the same services as interfaces are compiled beside it, which is its figure *without envoi*" },
  measure: async (scale) => typeCheck(SERVICES[scale]),
};

interface Needing {
  readonly probe: Probe;
  /** What is not installed of what it needs. */
  readonly lacks: readonly string[];
}

const needing: readonly Needing[] = [
  {
    probe: started('import "envoi/tools", to the first execution in the sandbox', "execution", 9),
    lacks: missingPeers(home),
  },
  { probe: checked, lacks: missingCompiler() },
];

const leftOut: readonly LeftOut[] = needing
  .filter(({ lacks }) => lacks.length > 0)
  .map(({ probe, lacks }) => ({
    row: probe.name,
    why: `${lacks.join(" and ")} ${lacks.length > 1 ? "are" : "is"} not installed: \`${commandFor(lacks)}\``,
  }));

export const suite: Suite = {
  name: "startup",
  about: [
    "What it costs to have envoi, of the package as it is published: the time from the start of a process of Bun to its end, which is as",
    "soon as the work is done; the bytes that it adds to a bundle; and the time of the compiler. Times *over bare Bun* are what a process",
    "takes longer than one that runs an empty file.",
  ].join("\n"),
  rows: [
    started('import "envoi", to the first reply', "reply"),
    started('import "envoi", to the first reply, checked by its schemas', "checked-reply"),
    started('import "envoi/tools", to the first file read', "file-read"),
    ...needing.filter(({ lacks }) => lacks.length === 0).map(({ probe }) => probe),
    sized("bytes of the core", "index"),
    sized("bytes of the tools, the core included", "tools"),
  ],
  ...(leftOut.length > 0 && { leftOut }),
};
