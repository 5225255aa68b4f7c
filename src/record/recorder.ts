import { type AnyRef, operationsOf, type Protocol, quote, type Ref, type System } from "../index";
import { Capture } from "./capture";
import type { RecordingTrouble } from "./files/options";
import { RecordingFile } from "./files/recording-file";
import { headerOf, newSeed } from "./header";
import { addressTest, patternOf } from "./include";
import { checkRecorderOptions, type RecorderOptions } from "./options";
import { randomFrom } from "./random";
import { RECORDER, type Recording, type RecordingCounts } from "./recording";
import { openRecording } from "./replay/open-world";
import { ValueWriter } from "./values/value-writer";

/** A recording in a file. */
class FileRecording implements Recording {
  readonly mode = "record";
  readonly random: () => number;
  readonly #system: System;
  readonly #file: RecordingFile;
  readonly #capture: Capture;
  readonly #forget: () => void;
  #isClosed = false;

  constructor(system: System, options: RecorderOptions) {
    const { sample = 1, seed = newSeed(), include, to, rotate, compress, maxBuffer } = options;
    const { transforms = [], keep, key, limits } = options;
    const { clock } = system;
    const patterns = include?.map(patternOf);
    const startedAt = clock.monotonicTime();
    const now = (): number => clock.monotonicTime() - startedAt;
    const values = new ValueWriter({ transforms, keep, key, limits });
    const header = headerOf(system, seed, patterns, transforms.map(String), values.keyId);
    const onTrouble = (trouble: RecordingTrouble): void => this.#tell(trouble);
    this.#system = system;
    this.random = randomFrom(seed);
    const closing = (): object => ({ open: this.#capture.open });
    this.#file = new RecordingFile({ to, rotate, compress, maxBuffer, clock, now, header, closing, onTrouble });
    const lot = randomFrom(newSeed()); // Another source: the program's own random numbers stay the same.
    this.#capture = new Capture({
      system,
      sink: this.#file,
      values,
      isIncluded: addressTest(patterns),
      choose: sample === 1 ? null : () => lot() < sample,
      startedAt,
    });
    this.#forget = system.onShutdown(() => this.close());
    this.#capture.begin();
  }

  get path(): string {
    return this.#file.first;
  }

  get isStopped(): boolean {
    return this.#isClosed || this.#file.counts.isStopped;
  }

  get counts(): RecordingCounts {
    const { messages, lines, bytes, droppedLines, droppedMessages } = this.#file.counts;
    const dropped = { lines: droppedLines, messages: droppedMessages };
    return { messages, open: this.#capture.open, lines, bytes, dropped };
  }

  outside<Signatures>(
    name: string,
    _protocol: Protocol<string, Signatures>,
    make: () => Ref<Signatures>,
  ): Ref<Signatures> {
    const actors = (): AnyRef[] => Array.from(this.#system.actors(), (actor) => actor.ref);
    return this.#capture.correspondents.outside(name, () => made(name, make), actors);
  }

  close(): Promise<void> {
    if (!this.#isClosed) {
      this.#isClosed = true;
      this.#forget();
      this.#capture.end();
    }
    return this.#file.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #tell(trouble: RecordingTrouble): void {
    const { kind, sentence, ...detail } = trouble;
    if (kind === "stopped") {
      this.#capture.end();
      this.#system.log.error(sentence, detail);
    }
    this.#system.publish({ kind: `record:${kind}`, address: RECORDER, detail: { ...detail, sentence } });
  }
}

/** A recording that does nothing. */
class NoRecording implements Recording {
  readonly mode = "off";
  readonly path = undefined;
  readonly isStopped = true;
  readonly counts: RecordingCounts = Object.freeze({
    messages: 0,
    open: 0,
    lines: 0,
    bytes: 0,
    dropped: Object.freeze({ lines: 0, messages: 0 }),
  });
  readonly random: () => number;

  constructor({ seed = newSeed() }: RecorderOptions) {
    this.random = randomFrom(seed);
  }

  outside<Signatures>(
    name: string,
    _protocol: Protocol<string, Signatures>,
    make: () => Ref<Signatures>,
  ): Ref<Signatures> {
    return made(name, make);
  }
  async close(): Promise<void> {}
  async [Symbol.asyncDispose](): Promise<void> {}
}

/** The reference that the owner of an actor outside made. */
function made<R extends AnyRef>(name: string, make: () => R): R {
  checkName(name);
  if (typeof make !== "function") {
    throw new TypeError(`outside(${quote(name)}) takes the function that makes the actor; got ${quote(make)}.`);
  }
  const ref = make();
  try {
    operationsOf(ref);
  } catch (cause) {
    throw new TypeError(`The function of outside(${quote(name)}) gives a reference; it gave ${quote(ref)}.`, { cause });
  }
  return ref;
}

/** Throws when no actor outside can have the name. */
export function checkName(name: string): void {
  if (typeof name === "string" && name !== "") return;
  throw new TypeError(`An actor outside has a name that is the same in each run, such as "model"; got ${quote(name)}.`);
}

/**
 * Records the messages of a system, their replies, errors and stream items, and the times of all these, into a file of lines of JSON.
 * Recording never makes a handler wait or fail. It is bounded in memory: what finds no room is dropped, counted, and told in the file and
 * by the event `record:dropped`. A full disk ends the recording, with one line in the log and the event `record:stopped`, and nothing
 * else. A shutdown of the system closes the recording.
 *
 * @throws TypeError or RangeError when an option is invalid; Error when the file cannot be made.
 * @example
 * const recording = recorder(system, { to: "recordings/run.ndjson" });
 * await counter.ask("add", 2);
 * await recording.close();
 */
export function recorder(system: System, options: RecorderOptions): Recording {
  checkRecorderOptions(options);
  switch (options.mode) {
    case "off":
      return new NoRecording(options);
    case "replay":
      return openRecording(system, options.to, options);
    default:
      return new FileRecording(system, options);
  }
}
