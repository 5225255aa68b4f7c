import { type Declared, figures, type Kept, needing, probe, suiteOf } from "../harness/rows";
import { commandFor, missingPeers } from "../harness/shipped";
import { home, sizeOf, startsOf } from "../subjects/installation";

type Limits = readonly [most: number, aim: number];

const started = (name: string, program: string, limits: Limits, reason: string, full = 15): Declared =>
  probe(
    name,
    figures("ms", "time", "bare Bun", "over bare Bun"),
    "an empty file is started in turns with it, which is its figure *bare Bun*",
    (scale) => startsOf(program, { smoke: 1, full }[scale]),
    [["over bare Bun", "atMost", ...limits, reason]],
  );

const sized = (name: string, entry: "index" | "tools", minified: number, gzip: number, reason: string): Declared =>
  probe(
    name,
    figures("kB", "minified", "gzip", "minified, our own", "gzip, our own"),
    "a bundle without it has none of it",
    () => sizeOf(entry),
    Object.entries({ minified, gzip }).map(([figure, most]): Kept => [figure, "atMost", most, most * 0.9, reason]),
  );

const lacks = missingPeers(home, "code");
const whyNot = `${lacks.join(" and ")} ${lacks.length > 1 ? "are" : "is"} not installed: \`${commandFor(lacks)}\``;

export const suite = suiteOf(
  "startup",
  [
    "What it costs to have envoi, of the package as it is published: the time from the start of a process of Bun to its end, which is as",
    "soon as the work is done; and the bytes that it adds to a bundle. Times *over bare Bun* are what a process",
    "takes longer than one that runs an empty file.",
  ].join("\n"),
  [
    started(
      'import "envoi", to the first reply',
      "reply",
      [24, 15],
      "a short program, such as a command, can afford it",
    ),
    started(
      'import "envoi", to the first reply, checked by its schemas',
      "checked-reply",
      [33, 25],
      "TypeBox's compiler comes with the first schema that is checked",
    ),
    started(
      'import "envoi/tools", to the first file read',
      "file-read",
      [66, 45],
      "the file actor checks each request by its schema",
    ),
    ...needing(lacks.length > 0 ? whyNot : undefined, [
      started(
        'import "envoi/tools", to the first execution in the sandbox',
        "execution",
        [112, 80],
        "a process is started, and WebAssembly compiled in it",
        9,
      ),
    ]),
    sized("bytes of the core", "index", 365, 109, "half is TypeBox, whole, since users write any schema"),
    sized(
      "bytes of the tools, the core included",
      "tools",
      560,
      181,
      "three actors, diffs and changes of several files; what they run in other processes apart",
    ),
  ],
);
