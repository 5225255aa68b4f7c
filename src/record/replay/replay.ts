import {
  type Clock,
  checkOptions,
  nearestName,
  type OptionChecks,
  option,
  quote,
  type ShutdownReport,
  type System,
} from "../../index";
import { RecordingReader } from "../files/read-recording";
import { MOST_HELD } from "../files/room";
import type { RecordingLine } from "../format";
import type { RecorderOptions } from "../options";
import { randomFrom } from "../random";
import type { Recording } from "../recording";
import type { ValueWriterOptions } from "../values/value-writer";
import { ReplayClock } from "./clock";
import { type Codec, codecOf, lackedBy } from "./codec";
import { isRedactedIn } from "./compare";
import { type Deviation, noteOf, sorted } from "./deviation";
import { type Comparison, Judge } from "./judge";
import type { Match } from "./library";
import { ReplayRecording } from "./replay-recording";
import { createReport, type ReplayReport } from "./report";
import { Run } from "./run";
import { type RecordedMessage, Tape, unansweredOf } from "./tape";
import { RecordedWorld } from "./world";

/** The clock, the random numbers and the recorder that a system is built with to be replayed. */
export interface ReplayStage {
  /** The clock that follows the recording, for `createSystem({ clock })`. */
  readonly clock: Clock;
  /** Random numbers by the seed of the recording, for `createSystem({ random })`. */
  readonly random: () => number;
  /**
   * As `recorder`, of the mode `"replay"` and of this recording: what is declared by `outside` answers from it. Of the options, those that
   * say how values are written count (`transforms`, `keep`, `key`, `limits`), so that both sides are compared after the same transforms.
   */
  readonly recorder: (system: System, options?: Partial<RecorderOptions> & ValueWriterOptions) => Recording;
}

/** The options of a replay. */
export interface ReplayOptions extends Omit<ValueWriterOptions, "key"> {
  /** Builds the system that the messages are sent to. It is shut down in the end. It does not send itself what came from outside. */
  readonly setup: (stage: ReplayStage) => System | Promise<System>;
  /**
   * `"recorded"` sends a message once those have ended that had ended before it in the recording, so that as much runs at once as then.
   * `"timed"` sends each at its time, whatever has ended. Default: `"recorded"`.
   */
  readonly order?: "recorded" | "timed";
  /**
   * How replies, items and errors are compared: `"exact"`; by the protocol's `"schema"`, which they have to fit; or by a function of both
   * values, which says whether they count as the same. Default: `"exact"`.
   */
  readonly compare?: "exact" | "schema" | Comparison;
  /**
   * Paths that are not compared, such as `"reply.id"` or `"item.*.at"`: they begin with `reply`, `item` or `error`, and `*` stands for any
   * key. `"order"` stands for the order in which messages to one actor end. Default: none.
   */
  readonly ignore?: readonly string[];
  /**
   * How calls of actors outside find their recorded answers: by `"content"`, those of equal payloads one after the other; or by
   * `"order"`, the first call the first answer, for each operation of an actor. Default: `"content"`.
   */
  readonly match?: Match;
  /**
   * Milliseconds of the machine's time for which the replay waits for work that its clock does not rule, such as files. Default: 2,000.
   */
  readonly patience?: number;
  /** The key of `recorder`, where it had one: only then redacted texts can be compared. Another one is refused. Default: none. */
  readonly key?: string | Uint8Array;
}

/**
 * Sends what came from outside in a recording again, to a system that is built from the present code, and compares what comes of it. Time
 * passes on the replay's own clock, as it did in the recording, and takes none of the machine's.
 *
 * Redacted values are sent as they are, and never count as deviations.
 *
 * @param recording the path of a recording, or its lines.
 * @returns a report: `isSame`, the deviations, and all of it as text by `String(report)`.
 * @throws TypeError or RangeError when an option is invalid, or `key` is not that of the recording; RecordingError when there is no such
 * recording, it is of a later format or has more than 1 GB, decompressed; and any error of `setup`.
 * @example
 * const report = await replay("recordings/run.ndjson", {
 *   setup({ clock, random, recorder }) {
 *     const system = createSystem({ clock, random });
 *     const model = recorder(system).outside("model", Model, () => spawnModel(system));
 *     system.spawn("agent", Agent, createAgent(model));
 *     return system;
 *   },
 * });
 * if (!report.isSame) console.log(String(report));
 */
export async function replay(
  recording: string | Iterable<RecordingLine>,
  options: ReplayOptions,
): Promise<ReplayReport> {
  checkReplayOptions(options);
  const tape = await tapeOf(recording);
  const { setup, order = "recorded", compare = "exact", ignore = [], match = "content", patience = 2_000 } = options;
  const clock = new ReplayClock(tape.startedAt);
  const worlds: RecordedWorld[] = [];
  let written = writing(options);
  let codec: Codec = codecOf(written, tape);
  const stage: ReplayStage = {
    clock,
    random: randomFrom(tape.header.seed),
    recorder(system, given = {}) {
      written = { ...writing(options), ...writing(given) };
      codec = codecOf(written, tape);
      worlds[0] ??= new RecordedWorld({ tape, codec, match, follows: true });
      return new ReplayRecording(system, worlds[0], typeof recording === "string" ? recording : undefined, false);
    },
  };
  const run = new Run(tape, clock, { order, patience });
  const system = await run.wait(async () => setup(stage));
  if (typeof system?.shutdown !== "function") {
    throw new TypeError(`The setup of a replay returns the system that it has built; got ${quote(system)}.`);
  }
  let found: Parameters<typeof createReport>[0];
  let stopped: ShutdownReport | undefined;
  try {
    await run.play(system, codec, worlds[0]);
    const judge = new Judge(tape, codec, { compare, ignore });
    for (const sent of run.sent) judge.judge(sent, system);
    judge.judgeOrder(run.sent);
    const [world] = worlds;
    const unsent = run.unsent.map(({ message, why }): Deviation => ({ kind: "unsent", message: noteOf(message), why }));
    found = {
      recording: tape.name,
      deviations: sorted([...unsent, ...deviationsOf(world), ...judge.deviations]),
      sent: run.sent.length,
      compared: judge.compared,
      answered: world?.answered ?? 0,
      unreadable: judge.unreadable,
      notes: [
        ...tape.notes,
        ...notesOnTransforms(lackedBy(written, tape.header)),
        ...notesOn(tape, judge.unreadable, run.sent.length - judge.compared, world),
      ],
    };
  } finally {
    stopped = await run.wait(() => system.shutdown({ timeout: 100, quiet: true }));
  }
  return createReport({ ...found, notes: [...found.notes, ...notesOnEnd(stopped)] });
}

const FUNCTION = option.function();
const COMPARED = ["reply", "item", "error", "order"];
const CHECKS: OptionChecks<ReplayOptions> = {
  setup: FUNCTION,
  order: option.oneOf("recorded", "timed"),
  compare: option.rule(
    'is "exact", "schema" or a function of both values',
    (value) => value === "exact" || value === "schema" || typeof value === "function",
  ),
  ignore: (value, name, of) => {
    option.texts(value, name, of);
    for (const path of value as readonly string[]) {
      // An array of texts, by the check before.
      const [first = ""] = path.split(".");
      if (first === "*" || COMPARED.includes(first)) continue;
      const meant = nearestName(first, COMPARED);
      const better = meant === undefined ? "" : `: write ${quote(meant + path.slice(first.length))}`;
      throw new TypeError(
        `The paths of ${name} begin with reply, item or error, or are "order"; got ${quote(path)}${better}.`,
      );
    }
  },
  match: option.oneOf("content", "order"),
  patience: option.rule(
    "is a number of milliseconds from 0",
    (value) => typeof value === "number" && value >= 0 && Number.isFinite(value),
    RangeError,
  ),
  transforms: option.any, // The writer of values looks at it and the rest.
  keep: option.any,
  key: option.any,
  limits: option.any,
};

export function checkReplayOptions(options: unknown): asserts options is ReplayOptions {
  checkOptions<ReplayOptions>(options, CHECKS, "a replay", "{ setup: ({ clock, random, recorder }) => system }");
  FUNCTION(options.setup, "setup", "a replay"); // It must be there.
}

/** A recording in memory. @throws RecordingError where it has more than so many bytes, decompressed. */
export async function tapeOf(recording: string | Iterable<RecordingLine>, most = MOST_HELD): Promise<Tape> {
  if (typeof recording !== "string") return new Tape("the recording", recording);
  const reader = new RecordingReader(recording, most);
  const lines = await Array.fromAsync(reader);
  const notes = reader.faults.map(({ sentence }) => sentence);
  const more = reader.faultCount - notes.length;
  if (more > 0) notes.push(`${more} more faults of the files.`);
  return new Tape(recording, lines, notes);
}

/** The options that say how values are written. */
const writing = ({ transforms, keep, key, limits }: Partial<ValueWriterOptions>): ValueWriterOptions => ({
  ...(transforms !== undefined && { transforms }),
  ...(keep !== undefined && { keep }),
  ...(key !== undefined && { key }),
  ...(limits !== undefined && { limits }),
});

function deviationsOf(world: RecordedWorld | undefined): Deviation[] {
  if (world === undefined) return [];
  const led = (origin: RecordedMessage | undefined) => ({ origin: origin && noteOf(origin) });
  return [
    ...world.refused.map(
      ({ error: { refusal, message }, origin }): Deviation => ({
        kind: "not-recorded",
        refusal,
        sentence: message,
        ...led(origin),
      }),
    ),
    ...world.otherPayloads.map(
      ({ message, differences }): Deviation => ({
        kind: "other-payload",
        message: noteOf(message),
        differences,
        ...led(message.origin),
      }),
    ),
    ...world.unused.map((message): Deviation => ({ kind: "unused", message: noteOf(message), ...led(message.origin) })),
  ];
}

function notesOnTransforms(lacked: readonly string[]): string[] {
  if (lacked.length === 0) return [];
  return [`The replay lacks transforms of the recording (${lacked.join(", ")}): what they hide was not compared.`];
}

function notesOn(tape: Tape, unreadable: number, unfinished: number, world: RecordedWorld | undefined): string[] {
  const notes: string[] = [];
  if (unfinished > 0) {
    notes.push(
      `${unfinished} ${unfinished === 1 ? "message was" : "messages were"} sent whose end is not in the recording: not compared.`,
    );
  }
  if (tape.unanswered.length > 0) notes.push(unansweredOf(tape.unanswered));
  const redacted = tape.fromOutside.filter(({ line }) => isRedactedIn(line.payload)).length;
  if (redacted > 0) {
    notes.push(`${redacted} payloads have redacted values, and were sent as they are in the recording.`);
  }
  if (unreadable > 0) notes.push(`${unreadable} values are redacted, or known by size alone: they were not compared.`);
  if (world === undefined && tape.toWorld.length > 0) {
    notes.push(
      "The recording has calls of actors outside, and setup has declared none: call recorder(system).outside(…).",
    );
  }
  return notes;
}

/** Says what a replay leaves behind, as the recording may have: a handler that waits for ever. */
function notesOnEnd({ unfinished }: ShutdownReport): string[] {
  if (unfinished.length === 0) return [];
  const who = unfinished.length === 1 ? "An actor was" : `${unfinished.length} actors were`;
  return [`${who} still at work when the replay ended, and abandoned: ${unfinished.slice(0, 10).join(", ")}.`];
}
