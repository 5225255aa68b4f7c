import type { Clock, ClockTimer } from "../../index";
import type { Channel, ChannelEvents, ChannelHost } from "../contract";
import { Intake } from "./intake";
import { Lines } from "./lines";

/** Milliseconds between the end of a child's output and the end of its process, beyond which nobody waits for its exit code. */
const EXIT_CODE = 500;
/** Milliseconds that a child has to end by itself, and then again after a SIGTERM. */
const TO_END = 2_000;

/** The sink of a channel's lines, such as the `stdin` of `Bun.spawn`. A promise means that the pipe is full until it settles. */
export interface LineSink {
  write(text: string): unknown;
  flush(): unknown;
  end(): unknown;
}

/** The part of a process of `Bun.spawn` that a channel needs. */
export interface Child {
  readonly stdin: LineSink;
  readonly stdout: ReadableStream<Uint8Array>;
  readonly exited: Promise<number>;
  kill(signal?: "SIGTERM" | "SIGKILL"): void;
}

/** The options of a channel to a child process. */
export interface ChildOptions {
  /**
   * Milliseconds that the child has to end once its input has ended; then it gets a SIGTERM, and after the same time again a SIGKILL.
   * `Infinity` leaves it alone. Default: 2,000.
   */
  readonly endsWithin?: number;
}

/** The behaviour of a channel of lines at its end. */
interface Ending {
  /** Called when the input has ended. Returns `"half"` if lines can still be sent, else a promise of the reason why not. */
  onEnd(host: ChannelHost): "half" | Promise<Error | undefined>;
  /** Called once the channel is closed. Lines that were sent may still be on their way. */
  onClose(host: ChannelHost): void;
}

class LineChannel implements Channel {
  readonly #input: ReadableStream<Uint8Array>;
  readonly #sink: LineSink;
  readonly #ending: Ending;
  #reader: { cancel(): Promise<void> } | null = null;
  #events: ChannelEvents | null = null;
  #host: ChannelHost | null = null;
  #intake: Intake | null = null;
  #onEmpty: (() => void) | null = null;
  /** Lines that are written next. */
  #waiting = "";
  #unsent = 0;
  #isFlushDue = false;
  /** True while the pipe is full. */
  #isWriting = false;
  #isClosed = false;
  #isEnded = false;

  constructor(input: ReadableStream<Uint8Array>, sink: LineSink, ending: Ending) {
    this.#input = input;
    this.#sink = sink;
    this.#ending = ending;
  }

  get unsent(): number {
    return this.#unsent;
  }

  open(events: ChannelEvents, host: ChannelHost): void {
    if (this.#host !== null) throw new Error("This channel belongs to a peer already: make one for each.");
    this.#events = events;
    this.#host = host;
    if (this.#isClosed) {
      host.clock.microtask(() => events.closed());
      return;
    }
    this.#intake = new Intake(events, host.clock, () => this.#emptied());
    void this.#read(new Lines(host.maxBytes), this.#intake);
  }

  send(text: string): boolean {
    if (this.#isClosed || this.#host === null) return false;
    this.#unsent += Buffer.byteLength(text) + 1;
    this.#waiting += `${text}\n`;
    if (this.#isFlushDue || this.#isWriting) return true;
    this.#isFlushDue = true;
    this.#host.clock.microtask(this.#flush); // All that leaves in one turn is one write.
    return true;
  }

  pause(): void {
    this.#intake?.pause();
  }

  resume(): void {
    this.#intake?.resume();
  }

  close(): void {
    this.#close(undefined);
  }

  #close(cause: Error | undefined): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#intake?.close();
    this.#emptied();
    this.#reader?.cancel().catch(() => {}); // It has failed, and nobody reads it.
    if (!this.#isWriting) this.#flush();
    if (!this.#isWriting) this.#end();
    if (this.#host !== null) this.#ending.onClose(this.#host);
    this.#events?.closed(cause);
  }

  // ——— In

  async #read(lines: Lines, intake: Intake): Promise<void> {
    try {
      const reader = this.#input.getReader();
      this.#reader = reader;
      for (let step = await reader.read(); !step.done; step = await reader.read()) {
        if (this.#isClosed) return;
        intake.takeAll(lines.read(step.value));
        if (!intake.isEmpty) await this.#untilEmpty();
      }
      const last = lines.end();
      if (last !== undefined) intake.take(last);
      if (!intake.isEmpty) await this.#untilEmpty();
      await this.#ended();
    } catch (thrown) {
      this.#close(asError(thrown));
    }
  }

  /** Waits until all that was read has been handed on: nothing more is read while the channel is paused. */
  #untilEmpty(): Promise<void> {
    return new Promise((resolve) => {
      this.#onEmpty = resolve;
    });
  }

  #emptied(): void {
    this.#onEmpty?.();
    this.#onEmpty = null;
  }

  async #ended(): Promise<void> {
    const host = this.#host;
    if (this.#isClosed || host === null) return;
    const cause = this.#ending.onEnd(host);
    if (cause === "half") this.#events?.ended();
    else this.#close(await cause);
  }

  // ——— Out

  readonly #flush = (): void => {
    this.#isFlushDue = false;
    if (this.#isWriting || this.#waiting === "") return;
    const text = this.#waiting;
    this.#waiting = "";
    const bytes = this.#unsent; // Nothing else is unsent.
    try {
      const written: unknown = this.#sink.write(text);
      const flushed: unknown = this.#sink.flush();
      if (!(written instanceof Promise) && !(flushed instanceof Promise)) {
        this.#unsent -= bytes;
        return;
      }
      this.#isWriting = true;
      Promise.all([written, flushed]).then(
        () => this.#written(bytes),
        (thrown: unknown) => this.#broke(thrown),
      );
    } catch (thrown) {
      this.#broke(thrown);
    }
  };

  /** The pipe, which was full, has taken all. */
  #written(bytes: number): void {
    this.#isWriting = false;
    this.#unsent -= bytes;
    this.#flush();
    if (this.#isWriting) return;
    if (this.#isClosed) this.#end();
    else this.#events?.drained();
  }

  /** Nobody reads any more. */
  #broke(thrown: unknown): void {
    this.#isWriting = false;
    this.#waiting = "";
    this.#unsent = 0;
    if (this.#isClosed) this.#end();
    else this.#close(asError(thrown));
  }

  #end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    try {
      const ended: unknown = this.#sink.end();
      if (ended instanceof Promise) ended.catch(() => {}); // It is broken, and was to end.
    } catch {}
  }
}

const asError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)));

/**
 * Lines of JSON over a stream of bytes and a sink, such as a socket.
 *
 * @example
 * const channel = linesChannel(child.stdout, child.stdin);
 */
export const linesChannel = (input: ReadableStream<Uint8Array>, sink: LineSink): Channel =>
  new LineChannel(input, sink, { onEnd: async () => undefined, onClose() {} });

/**
 * The standard input and output of this process, as lines. Once the input has ended, requests that are under way are still answered.
 * Nothing else may write to the standard output: log to `console.error`.
 *
 * @example
 * const peer = createPeer(system, stdioChannel(), { serves: { echo: { ref, operation: "say" } } });
 */
export const stdioChannel = (): Channel =>
  new LineChannel(Bun.stdin.stream(), Bun.stdout.writer(), { onEnd: () => "half", onClose() {} });

/**
 * The standard input and output of a child process, as lines. To close it ends the child's input, and the child, if it does not end by
 * itself. The end of the child's output closes it; the error says how the child has ended.
 *
 * @throws RangeError when `endsWithin` is no time; TypeError when the child's input or output is no pipe.
 * @example
 * const child = Bun.spawn(["some-agent", "--acp"], { stdin: "pipe", stdout: "pipe" });
 * const peer = createPeer(system, childChannel(child), options);
 */
export function childChannel(child: Child, { endsWithin = TO_END }: ChildOptions = {}): Channel {
  if (!(typeof endsWithin === "number" && endsWithin > 0)) {
    throw new RangeError(`endsWithin is a number of milliseconds above 0, or Infinity; got ${String(endsWithin)}.`);
  }
  if (!isPiped(child)) {
    throw new TypeError('A child has pipes: start it by Bun.spawn(command, { stdin: "pipe", stdout: "pipe" }).');
  }
  return new LineChannel(child.stdout, child.stdin, {
    onEnd: ({ clock }) => exitOf(child, clock),
    onClose: ({ clock }) => endChild(child, clock, endsWithin),
  });
}

const isPiped = ({ stdin, stdout }: Child): boolean =>
  typeof stdin?.write === "function" && typeof stdout?.getReader === "function";

/** Waits a little for the exit code of a child whose output has ended. */
function exitOf(child: Child, clock: Clock): Promise<Error> {
  return new Promise((resolve) => {
    const timer = clock.setTimer(() => resolve(new Error("The process has ended its output.")), EXIT_CODE);
    void child.exited.then((code) => {
      timer.cancel();
      resolve(new Error(`The process has ended with code ${code}.`));
    });
  });
}

/** Ends a child that does not end by itself. */
function endChild(child: Child, clock: Clock, endsWithin: number): void {
  let timer: ClockTimer | null = null;
  const after = (act: () => void): void => {
    if (endsWithin === Number.POSITIVE_INFINITY) return;
    timer = clock.setTimer(act, endsWithin);
    timer.unref();
  };
  after(() => {
    child.kill("SIGTERM");
    after(() => child.kill("SIGKILL"));
  });
  void child.exited.then(() => timer?.cancel());
}
