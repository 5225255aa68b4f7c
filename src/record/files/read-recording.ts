import type { RecordingLine } from "../format";
import { RecordingError, type RecordingFault } from "./faults";
import { partsOf } from "./find";
import { readPart } from "./read-part";
import { Room } from "./room";

/** Faults that are told one by one. */
const MOST_FAULTS = 100;

/**
 * A recording that is being read, made by `readRecording`. Its faults are known as far as it has been read.
 *
 * @throws RecordingError in the loop, when there is no such recording, or it is one of a later format.
 * @example
 * const recording = readRecording("recordings/run.ndjson");
 * const lines = await Array.fromAsync(recording);
 * console.log(lines.length, recording.isClosed, recording.faults.map(({ sentence }) => sentence));
 */
export class RecordingReader implements AsyncIterable<RecordingLine> {
  readonly #where: string;
  readonly #most: number;
  #faults: RecordingFault[] = [];
  #faultCount = 0;
  #paths: string[] = [];
  #isClosed = false;

  constructor(where: string, most = Infinity) {
    this.#where = where;
    this.#most = most;
  }

  /** The files, in order. */
  get paths(): readonly string[] {
    return this.#paths;
  }

  /** The first hundred things that could not be read. */
  get faults(): readonly RecordingFault[] {
    return this.#faults;
  }

  /** The number of all of them. */
  get faultCount(): number {
    return this.#faultCount;
  }

  /** The torn end of a file: the recording was cut off, as by a crash. Undefined if there is none. */
  get torn(): RecordingFault | undefined {
    return this.#faults.find(({ kind }) => kind === "torn");
  }

  /** True if the recording ended in order: its last line is `close`. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /**
   * The lines of all parts in order, without the headers of later parts. Each loop reads from the beginning.
   *
   * @throws RecordingError when there is no such recording, or it is one of a later format, or larger than it may be.
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<RecordingLine, void> {
    [this.#faults, this.#faultCount, this.#isClosed] = [[], 0, false];
    const found = await partsOf(this.#where);
    if (found === undefined) throw new RecordingError(`There is no recording at ${this.#where}.`);
    this.#paths = found.parts.map(({ path }) => path);
    const room = new Room(this.#most);
    let lines = 0;
    // Parts that rotate.keep has deleted are not missing.
    const oldest = found.parts.at(-1)?.header.oldest ?? 1;
    let next = found.parts[0].header.part < oldest ? 1 : oldest;
    for (const { path, header } of found.parts) {
      if (header.part > next) this.#addMissing(path, next, header.part - 1);
      const isRepeated = header.part < next;
      next = header.part + 1;
      if (isRepeated) {
        this.#add({ kind: "broken", path, sentence: `${path} is part ${header.part} once more; it was passed over.` });
        continue;
      }
      for await (const read of readPart(path, room)) {
        for (const { line, fault } of read) {
          if (fault !== undefined) this.#add(fault);
          else if (line.kind !== "header") {
            this.#isClosed = line.kind === "close";
            if (line.kind === "close" && oldest === 1) this.#compare(path, lines, line.lines);
            if (line.kind !== "close") lines++;
            yield line;
          } else if (path === this.#paths[0]) yield line;
        }
      }
    }
    for (const path of found.torn) {
      if (Bun.file(path).size === 0) continue; // The next part, opened and not begun: nothing is lost.
      this.#add({ kind: "torn", path, line: 1, sentence: `${path} ends within its header: it holds nothing.` });
    }
    for (const { path, error } of found.refused) this.#add({ kind: "broken", path, line: 1, sentence: error.message });
  }

  #addMissing(path: string, first: number, last: number): void {
    const which = first === last ? `Part ${first} is` : `The parts ${first} to ${last} are`;
    this.#add({ kind: "missing", path, sentence: `${which} missing before ${path}.` });
  }

  #compare(path: string, read: number, written: number): void {
    if (read === written || this.#faultCount > 0) return;
    const sentence = `${path} says that ${written} lines come before its end; there are ${read}.`;
    this.#add({ kind: "missing", path, sentence });
  }

  #add(fault: RecordingFault): void {
    this.#faultCount++;
    if (this.#faults.length < MOST_FAULTS) this.#faults.push(fault);
  }
}

/**
 * Reads a recording line by line, within bounded memory: all its parts in order, compressed ones too. What is torn or broken is told by
 * `torn` and `faults`, and the rest is read.
 *
 * @param where a file of the recording, or a glob that matches its parts.
 * @example
 * const recording = readRecording("recordings/run.ndjson");
 * for await (const line of recording) if (line.kind === "message") console.log(line.to, line.operation);
 * console.log(recording.torn?.sentence ?? "whole");
 */
export const readRecording = (where: string): RecordingReader => new RecordingReader(where);
