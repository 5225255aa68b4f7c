/** The process that makes load: `bun generator.ts SOCKET`. It sends what is due when it is due, whatever became of what it sent before. */
import { setPriority } from "node:os";
import type { Socket } from "bun";
import { serveParent } from "./child";
import { type Answers, eachAnswer, LineReader, LineWriter } from "./lines";
import { Requests, RequestTimes, type Window } from "./requests";
import type { WindowResult } from "./results";
import { type Mix, Schedule, type ScheduleOptions } from "./schedule";

/** What is made. */
export interface Begin extends ScheduleOptions {
  /** Milliseconds until a request without an answer is given up. */
  readonly patience: number;
}

/** What a window was, seen from the generator. */
export type Seen = Omit<WindowResult, "subject">;

/** What the process that started this one may call. */
export interface GeneratorHandlers extends Record<string, (argument: never) => unknown> {
  readonly begin: (begin: Begin) => Promise<void>;
  readonly change: (to: { readonly rate?: number | undefined; readonly mix?: Mix | undefined }) => void;
  readonly window: (milliseconds: number) => Promise<Seen>;
  /** Sends no more, and ends once nothing is open. */
  readonly rest: () => Promise<void>;
}

/** Between two looks at what is due, in milliseconds. */
const TICK = 1;
/** A look takes no more requests than this at once, so that answers are read in between. */
const AT_ONCE = 10_000;

interface OpenWindow {
  readonly window: Window;
  readonly end: number;
  readonly ended: (at: number) => void;
  readonly lags: RequestTimes;
}

class Generator {
  readonly #schedule: Schedule;
  readonly #requests: Requests;
  readonly #writer: LineWriter;
  readonly #patience: number;
  #windows: OpenWindow[] = [];

  constructor(begin: Begin, writer: LineWriter) {
    this.#schedule = new Schedule(begin, performance.now());
    this.#patience = begin.patience;
    this.#requests = new Requests(begin.patience);
    this.#writer = writer;
    setInterval(() => this.#send(), TICK);
  }

  change(to: { readonly rate?: number | undefined; readonly mix?: Mix | undefined }): void {
    this.#send();
    this.#schedule.change(to, performance.now());
  }

  async window(milliseconds: number): Promise<Seen> {
    this.#send();
    const start = performance.now();
    const { rate } = this.#schedule;
    const before = processorTime();
    const window = this.#requests.begin();
    const lags = new RequestTimes();
    const end = await new Promise<number>((ended) => {
      this.#windows.push({ window, end: start + milliseconds, ended, lags });
    });
    const processor = (processorTime() - before) / (end - start);
    await window.whole;
    const lag = lags.percentile(99);
    const generator = { lag, processor };
    return { rate, milliseconds: end - start, all: window.all.outcomes(), operations: window.operations(), generator };
  }

  async rest(): Promise<void> {
    this.change({ rate: 0 });
    while (this.#requests.open > 0) await Bun.sleep(TICK);
  }

  hear(answers: readonly Answers[]): void {
    const now = performance.now();
    eachAnswer(answers, (id, error) => this.#requests.settle(id, error, now));
  }

  #send(): void {
    const now = performance.now();
    const schedule = this.#schedule;
    let text = "";
    // Where no more may be open, requests are sent late, which windows tell.
    for (let taken = 0; schedule.due <= now && taken < AT_ONCE && this.#requests.hasRoom; taken++) {
      const { due } = schedule;
      this.#endWindows(due);
      const operation = schedule.take();
      text += `[${this.#requests.add(operation, due)},"${operation}"]\n`;
      for (const { lags } of this.#windows) lags.record(now - due);
    }
    if (text !== "") this.#writer.write(text, now);
    if (schedule.due > now) this.#endWindows(now);
    this.#requests.giveUp(now);
    this.#writer.forget(now - this.#patience);
  }

  #endWindows(at: number): void {
    if (this.#windows.length === 0 || !this.#windows.some(({ end }) => end <= at)) return;
    for (const { window, end, ended } of this.#windows) {
      if (end > at) continue;
      this.#requests.end(window);
      ended(performance.now());
    }
    this.#windows = this.#windows.filter(({ end }) => end > at);
  }
}

/** Milliseconds of processors that this process has used. */
function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** Connects; what comes is told to `hear`. */
async function connect(path: string, hear: (answers: readonly Answers[]) => void): Promise<LineWriter> {
  const reader = new LineReader<Answers>();
  const writers: LineWriter[] = [];
  const socket: Socket = await Bun.connect({
    unix: path,
    socket: {
      data: (_, bytes) => hear(reader.read(bytes)),
      drain: () => writers[0]?.drain(),
      close: () => process.exit(1), // Nobody is left to load.
    },
  });
  const writer = new LineWriter(socket);
  writers.push(writer);
  return writer;
}

/** It needs little, but in time: where all processors are busy, it goes before what is under load, if it may. */
const URGENT = -10;

if (import.meta.main) {
  const path = process.argv[2] ?? "";
  try {
    setPriority(URGENT);
  } catch {
    // Only some users may. Windows tell when requests were sent late.
  }
  let generator: Generator | undefined;
  const begun = (): Generator => {
    if (generator === undefined) throw new Error("It has not begun.");
    return generator;
  };
  const handlers: GeneratorHandlers = {
    async begin(begin) {
      const writer = await connect(path, (answers) => generator?.hear(answers));
      generator = new Generator(begin, writer);
    },
    change: (to) => begun().change(to),
    window: (milliseconds) => begun().window(milliseconds),
    rest: () => begun().rest(),
  };
  serveParent(handlers);
}
