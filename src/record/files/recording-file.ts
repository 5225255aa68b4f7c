import { unlink } from "node:fs";
import type { Clock } from "../../index";
import { encode, encodeSync } from "./encode";
import { forgetExit, listenForExit } from "./exits";
import { openFirst } from "./first-part";
import { oldestKept, pathOf, type Series, seriesOf } from "./names";
import {
  type FileCounts,
  MAX_BUFFER,
  type RecordingFileOptions,
  type RecordingTrouble,
  ROTATE,
  type RotateOptions,
} from "./options";
import { GATHER, GATHER_FRAME, Pace } from "./pace";
import { Part, WriteError } from "./part";
import { lossOf, stopOf } from "./sentences";
import { type Batch, FULL_BATCH, isTooLong, type Kind, LINE, MESSAGE, OWN, Waiting } from "./waiting";

/** The time between two looks whether the file is still what was written, in milliseconds. */
const LOOK = 1_000;
/** The longest time that `close` waits for the disk, in milliseconds. */
const CLOSE = 10_000;

/**
 * A recording on disk that grows. `append` neither blocks nor throws: lines wait in memory and are written together, one write at a time.
 * A line that has no room there is dropped and counted. The first write that fails stops the recording for good.
 *
 * A process that exits, by itself or by `process.exit`, writes what waits. One that is killed loses what waits, which is what came in the
 * last 20 ms (100 ms where it is compressed), and what the write that was under way had not done.
 */
export class RecordingFile {
  readonly #clock: Clock;
  readonly #options: RecordingFileOptions;
  readonly #rotate: Required<RotateOptions>;
  readonly #maxBuffer: number;
  readonly #isCompressed: boolean;
  readonly #now: () => number;
  readonly #waiting = new Waiting();
  readonly #pace: Pace;
  #series: Series;
  /** Null once it is closed or has stopped. */
  #part: Part | null = null;
  /** The batch that is being written, and its bytes once they are made. */
  #batch: Batch | null = null;
  #bytes: Uint8Array | null = null;
  #writing: Promise<void> | null = null;
  #closing: Promise<void> | null = null;
  #isStopped = false;
  #lastLook: number;
  #counts = { lines: 0, messages: 0, bytes: 0, parts: 0, droppedLines: 0, droppedMessages: 0 };
  /** The lines dropped since the last `dropped` line. */
  #lost = { lines: 0, messages: 0 };
  /** Lines that were put into the queue and lines that were written, those of the file itself included. */
  #queued = 0;
  #written = 0;
  #flushes: { readonly until: number; readonly done: () => void }[] = [];

  /**
   * Opens the first part.
   *
   * @throws Error when its folder or the file cannot be made. A full disk does not throw: the recording has stopped then.
   */
  constructor(options: RecordingFileOptions) {
    const { clock, to, rotate, compress = false, maxBuffer = MAX_BUFFER, now } = options;
    this.#options = options;
    this.#clock = clock;
    this.#rotate = { ...ROTATE, ...rotate };
    this.#maxBuffer = maxBuffer;
    this.#isCompressed = compress === "zstd";
    const start = clock.monotonicTime();
    this.#now = now ?? (() => clock.monotonicTime() - start);
    this.#lastLook = start;
    this.#pace = new Pace(clock, this.#isCompressed ? GATHER_FRAME : GATHER, this.#isCompressed, () => this.#start());
    this.#series = seriesOf(to);
    this.#begin(start);
    listenForExit(this);
  }

  /** The path of the part that is written. */
  get path(): string {
    return pathOf(this.#series, Math.max(this.#counts.parts, 1), this.#isCompressed);
  }

  /** The path of the first part, which may have been deleted. */
  get first(): string {
    return pathOf(this.#series, 1, this.#isCompressed);
  }

  get counts(): FileCounts {
    const waiting = this.#waiting.bytes + (this.#batch?.bytes ?? 0);
    return { ...this.#counts, waiting, isStopped: this.#isStopped };
  }

  /**
   * Adds a line, without its line end. It neither blocks nor throws.
   *
   * @param isMessage true for a line of the kind `message`: those that are lost are counted by themselves.
   * @returns false when the line is lost: there is no room for it, or the recording has stopped or was closed.
   */
  append(line: string, isMessage: boolean): boolean {
    if (this.#part === null || this.#closing !== null) return this.#drop(isMessage);
    const bytes = line.length + 1; // As many as characters, mostly: to count them took 0.3 µs of a line.
    const held = this.#waiting.bytes + (this.#batch?.bytes ?? 0);
    if (held + bytes > this.#maxBuffer || isTooLong(line)) {
      this.#lost.lines++;
      if (isMessage) this.#lost.messages++;
      return this.#drop(isMessage);
    }
    if (this.#lost.lines > 0) this.#tellLoss();
    this.#counts.lines++;
    if (isMessage) this.#counts.messages++;
    this.#add(line, isMessage ? MESSAGE : LINE, bytes);
    if (this.#writing === null) this.#pace.request(this.#waiting.bytes >= FULL_BATCH);
    return true;
  }

  /** Resolves when all lines that were appended before are written, or lost because the recording stopped. It does not reject. */
  flush(): Promise<void> {
    if (this.#part === null || this.#written === this.#queued) return Promise.resolve();
    const flushed = new Promise<void>((done) => this.#flushes.push({ until: this.#queued, done }));
    this.#start();
    return flushed;
  }

  /**
   * Writes what waits and the `close` line, waits until the disk has it (10 seconds at most), and closes the file. A second call returns
   * the same promise, which does not reject.
   */
  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  /** Writes what waits, at once. */
  onExit(): void {
    const part = this.#part;
    if (part === null) return;
    try {
      if (this.#batch !== null) part.finishSync(this.#bytes ?? encodeSync(this.#batch.lines, this.#isCompressed));
      if (this.#lost.lines > 0) this.#tellLoss();
      for (let batch = this.#waiting.take(); batch !== undefined; batch = this.#waiting.take()) {
        part.writeSync(encodeSync(batch.lines, this.#isCompressed));
      }
    } catch {
      // The process ends: nobody could be told.
    }
  }

  /** Opens the first part. The program begins all the same where the disk has no room for it. */
  #begin(openedAt: number): void {
    const header = this.#header(1);
    const { series, part, error } = openFirst(this.#options.to, header, this.#isCompressed, openedAt);
    this.#series = series;
    this.#part = part;
    this.#counts.parts = part === null ? 0 : 1;
    if (error === undefined) this.#counts.bytes = header.length;
    else this.#clock.microtask(() => this.#stop(error));
  }

  #header(part: number): Uint8Array {
    const oldest = oldestKept(part, this.#rotate.keep);
    return encodeSync(
      [JSON.stringify({ ...this.#options.header(), part, ...(oldest > 1 && { oldest }) })],
      this.#isCompressed,
    );
  }

  #add(line: string, kind: Kind, bytes: number): void {
    this.#waiting.add(line, kind, bytes);
    this.#queued++;
  }

  #drop(isMessage: boolean): false {
    this.#counts.droppedLines++;
    if (isMessage) this.#counts.droppedMessages++;
    return false;
  }

  /** Writes down what was dropped here. The line may go beyond the bound: it is short, and another one follows only after a write. */
  #tellLoss(): void {
    const { lines, messages } = this.#lost;
    this.#lost = { lines: 0, messages: 0 };
    const line = JSON.stringify({ kind: "dropped", at: this.#at(), lines, messages });
    this.#add(line, OWN, line.length + 1);
    const sentence = lossOf(this.path, lines, messages);
    this.#clock.microtask(() => this.#tell({ kind: "dropped", lines, messages, sentence }));
  }

  #at(): number {
    return Math.max(0, Math.round(this.#now() * 1_000) / 1_000); // A clock may go back.
  }

  /** Begins to write, if nothing is being written. */
  #start(): void {
    this.#pace.cancel();
    if (this.#part === null || this.#writing !== null) return;
    this.#writing = this.#write().then(() => {
      this.#writing = null;
      if (this.#waiting.bytes === 0 || this.#part === null) return;
      // Lines that came while the last bytes were on their way.
      if (this.#isWaitedFor()) this.#start();
      else this.#pace.request(this.#waiting.bytes >= FULL_BATCH);
    });
  }

  #isWaitedFor(): boolean {
    return this.#flushes.length > 0 || this.#closing !== null;
  }

  /** Writes batches until few lines wait. It does not reject. */
  async #write(): Promise<void> {
    try {
      do {
        const batch = this.#waiting.take();
        if (batch === undefined) return;
        this.#batch = batch;
        const bytes = await encode(batch.lines, this.#isCompressed);
        this.#bytes = bytes;
        await this.#look();
        await this.#rotateFor(bytes.length);
        await this.#part?.write(bytes);
        if (this.#part === null) return; // The disk took so long that `close` gave it up.
        this.#batch = this.#bytes = null;
        this.#counts.bytes += bytes.length;
        this.#written += batch.lines.length;
        if (this.#lost.lines > 0) this.#tellLoss();
        this.#endFlushes();
      } while (this.#waiting.bytes >= FULL_BATCH || this.#isWaitedFor());
    } catch (error) {
      this.#stop(error as Error);
    }
  }

  /** Fails if somebody has deleted the file or cut it off: what is written would be lost in silence. */
  async #look(): Promise<void> {
    const now = this.#clock.monotonicTime();
    if (now - this.#lastLook < LOOK) return;
    this.#lastLook = now;
    await this.#part?.check();
  }

  /** Begins the next part where this one is too large with so many more bytes, or too old. */
  async #rotateFor(more: number): Promise<void> {
    const part = this.#part;
    if (part === null || this.#written === 0) return;
    const now = this.#clock.monotonicTime();
    if (part.size + more <= this.#rotate.bytes && now - part.openedAt < this.#rotate.age) return;
    const number = part.number + 1;
    const next = await Part.open(pathOf(this.#series, number, this.#isCompressed), number, now);
    const header = this.#header(number);
    try {
      await next.write(header);
    } catch (error) {
      next.abandon();
      throw error;
    }
    this.#part = next;
    this.#counts.parts = number;
    this.#counts.bytes += header.length;
    part.abandon();
    const oldest = number - this.#rotate.keep;
    if (oldest >= 1) unlink(pathOf(this.#series, oldest, this.#isCompressed), () => {}); // Somebody may have moved it.
  }

  async #end(): Promise<void> {
    if (this.#part === null) return;
    if (this.#lost.lines > 0) this.#tellLoss();
    const line = JSON.stringify({ kind: "close", at: this.#at(), lines: this.#queued, ...this.#options.closing?.() });
    this.#add(line, OWN, line.length + 1);
    const limit = Promise.withResolvers<void>();
    const timer = this.#clock.setTimer(() => limit.resolve(), CLOSE);
    timer.unref();
    await Promise.race([this.#closeInOrder(), limit.promise]);
    timer.cancel();
    if (this.#part !== null) this.#stop(new Error(`the disk took longer than ${CLOSE / 1000} seconds`), true);
    forgetExit(this);
  }

  async #closeInOrder(): Promise<void> {
    while (this.#part !== null && (this.#writing !== null || this.#waiting.bytes > 0)) {
      this.#start();
      await this.#writing;
    }
    try {
      await this.#part?.check();
      await this.#part?.close();
      this.#part = null;
    } catch (error) {
      this.#stop(error as Error);
    }
  }

  /**
   * Ends the recording for good. What was not written is lost, and counted.
   *
   * @param isStuck true while a write is under way: the file stays open for it, since its number could become another file's.
   */
  #stop(error: Error, isStuck = false): void {
    if (this.#isStopped) return;
    const part = this.#part;
    this.#part = null;
    this.#isStopped = true;
    forgetExit(this);
    this.#pace.cancel();
    if (!isStuck) part?.abandon();
    this.#loseBatch(error instanceof WriteError ? error.written : 0);
    for (let batch = this.#waiting.take(); batch !== undefined; batch = this.#waiting.take()) this.#lose(batch, 0);
    this.#endFlushes();
    const sentence = stopOf(this.path, error, this.#counts);
    this.#tell({ kind: "stopped", path: this.path, error, sentence });
  }

  /** The first lines of a batch may have been written, if it is not compressed. */
  #loseBatch(written: number): void {
    if (this.#batch === null) return;
    this.#counts.bytes += written;
    let whole = 0;
    if (!this.#isCompressed) for (const byte of this.#bytes?.subarray(0, written) ?? []) if (byte === NEWLINE) whole++;
    this.#lose(this.#batch, whole);
    this.#batch = this.#bytes = null;
  }

  /** Counts the lines of a batch as dropped, but for the first ones. */
  #lose({ kinds }: Batch, first: number): void {
    for (const kind of kinds.slice(first)) {
      if (kind === OWN) continue;
      this.#counts.lines--;
      if (kind === MESSAGE) this.#counts.messages--;
      this.#drop(kind === MESSAGE);
    }
  }

  #endFlushes(): void {
    const due = (each: { readonly until: number }): boolean => this.#part === null || each.until <= this.#written;
    for (const { done } of this.#flushes.filter(due)) done();
    this.#flushes = this.#flushes.filter((each) => !due(each));
  }

  #tell(trouble: RecordingTrouble): void {
    try {
      this.#options.onTrouble?.(trouble);
    } catch {
      // The recording must not fail what it records.
    }
  }
}

const NEWLINE = 10;
