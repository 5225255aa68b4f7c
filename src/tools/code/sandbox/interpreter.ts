import { isTextTooDeep } from "../depth";
import { ENTRY_BYTES, type Order, type Outcome } from "../pool/channel";
import { MOST_CALLS } from "../tools/call-refusals";
import { type Helper, help, refused, repeat, setTime } from "./answers";
import { UNSHOWN } from "./display";
import { latePiece } from "./globals/pieces";
import type { Image } from "./image";
import { startImage } from "./pieces";
import { Places } from "./places";
import type { Port } from "./port";
import { type Hooks, loadQuickJS, type Place, type QuickJS, type Result, type Told } from "./quickjs";
import { type Parts, readSnapshot, type Snapshot, writeSnapshot } from "./snapshot";
import { NATIVES, STACK, snapshotOf } from "./start";
import { Timers } from "./timers";

/** Jobs between checks of the deadline from outside: an async function swallows an interrupt. */
const JOBS = 100;
/** Most leftover jobs of an ended run to clear away. With more, the context counts as broken. */
const MOST_LEFTOVERS = 20_000;
/** Least bytes that a run has beyond the image of the start. */
const LEAST = 1.5 * 1024 * 1024;
/** The answer to progress that is nested too deep: see `Natives`. */
const TOO_DEEP = -2;

const EXHAUSTED: Outcome = { kind: "out-of-memory", message: "" };

/** Runs programs one at a time, each in a fresh context or in the context of the previous run. */
export class Interpreter {
  readonly #port: Port;
  readonly #start: () => Promise<QuickJS>;
  readonly #parts: Parts;
  /** The memory as it is before any run. */
  readonly #image: Image;
  #quickjs: QuickJS;
  #isNew = true;
  #isBroken = false;
  /** The tools of the previous run, as JSON. */
  #tools: string | undefined;
  #number = 0;
  #began = 0;
  #timeout = 0;
  #deadline = 0;
  #maxOutput = 0;
  #hasTools = false;
  /** Bytes of output that are still allowed. */
  #left = 0;
  #stop: "timeout" | "output-limit" | undefined;
  /** Never reset while the process lives, so that no answer is taken for one of another run. */
  #calls = 0;
  readonly #open = new Set<number>();
  readonly #places = new Places();
  readonly #timers = new Timers();
  /** True once something was thrown where no code could catch it. */
  #hasFailed = false;
  /** Values to free after a run whose context is kept. */
  #owned: Place[] = [];

  private constructor(
    port: Port,
    quickjs: QuickJS,
    start: () => Promise<QuickJS>,
    hooks: Hooks,
    { parts, image }: Snapshot,
  ) {
    this.#port = port;
    this.#start = start;
    this.#quickjs = quickjs;
    this.#parts = parts;
    this.#image = image;
    hooks.called = (id, text) => this.#called(id, text);
    hooks.isToStop = () => this.#isToStop();
  }

  /** @throws if QuickJS is not installed, or is another version. */
  static async create(port: Port): Promise<Interpreter> {
    const loaded = await loadQuickJS();
    const hooks: Hooks = { called: () => 0, isToStop: () => false };
    const start = () => loaded.start(hooks);
    const quickjs = await start();
    const known = readSnapshot(startImage(), loaded.fingerprint);
    if (known !== undefined) {
      known.image.write(quickjs.memory);
      quickjs.adopt(known.layout);
    }
    return new Interpreter(port, quickjs, start, hooks, known ?? snapshotOf(quickjs));
  }

  /** Writes the snapshot of a fresh interpreter into a file. Processes read it from beside their program. */
  static async prepare(file: string): Promise<void> {
    const { start, fingerprint } = await loadQuickJS();
    writeSnapshot(file, fingerprint, snapshotOf(await start({ called: () => 0, isToStop: () => false })));
  }

  /** True until something has run. */
  get isNew(): boolean {
    return this.#isNew;
  }

  /** True once the state that runs left is lost, or not to be trusted. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  run(order: Order): Outcome {
    this.#number = order.number;
    this.#began = performance.now();
    this.#timeout = order.timeout;
    this.#deadline = this.#began + order.timeout;
    this.#maxOutput = order.maxOutput;
    this.#hasTools = order.tools !== undefined;
    this.#left = order.maxOutput;
    this.#stop = undefined;
    this.#hasFailed = false;
    this.#owned = [];
    this.#quickjs.isExhausted = false;
    let outcome: Outcome;
    try {
      if (this.#isNew) this.#furnish(order.memory);
      repeat(order, this.#quickjs);
      outcome = this.#evaluate(order);
      if (order.isKept && !this.#isBroken) this.#tidy(outcome);
    } catch (thrown) {
      outcome = this.#trapped(thrown);
    }
    this.#open.clear();
    this.#timers.clearAll();
    setTime();
    return this.#stop === undefined ? outcome : { kind: this.#stop, message: "" };
  }

  /** Restores the state before any run. */
  async reset(): Promise<void> {
    const quickjs = this.#quickjs;
    const isRestored = this.#image.restore(quickjs.memory);
    if (this.#isBroken || !isRestored) {
      this.#quickjs = await this.#start();
      this.#quickjs.adopt(quickjs.layout);
      this.#image.write(this.#quickjs.memory);
    }
    this.#isBroken = false;
    this.#isNew = true;
    this.#tools = undefined;
    this.#places.forget();
  }

  /** Gives a first run its own seed and memory limit. */
  #furnish(memory: number): void {
    const quickjs = this.#quickjs;
    quickjs.seed(crypto.getRandomValues(new Uint8Array(8)));
    quickjs.limit = memory;
    // The memory may be larger than the limit already, from the start or from an earlier run. Occupy the difference.
    const { length } = quickjs.memory;
    const ballast = Math.min(length - memory, length - this.#image.end - LEAST);
    if (ballast > 0) quickjs.occupy(ballast);
    quickjs.isExhausted = false;
    this.#isNew = false;
  }

  #evaluate({ body, file, input, declares, tools }: Order): Outcome {
    const quickjs = this.#quickjs;
    this.#places.know(file, body);
    const program = quickjs.evaluate(`(async function (input, tools, progress) {\n${body}\n})`, file);
    if (program.thrown !== 0) return this.#failed(this.#own(program.thrown));
    this.#own(program.value);
    const known = tools === undefined ? 0 : tools === this.#tools ? 1 : tools;
    const start = `[${this.#maxOutput},${JSON.stringify(declares)},${known}${input === undefined ? "" : `,${input}`}]`;
    const begun = quickjs.call(this.#parts.begin, program.value, this.#own(quickjs.makeString(start)));
    if (begun.thrown !== 0) return this.#failed(this.#own(begun.thrown));
    this.#own(begun.value);
    this.#tools = tools;
    for (;;) {
      this.#drain();
      if (this.#stop !== undefined) return { kind: this.#stop, message: "" };
      const settled = quickjs.settled(begun.value);
      if (settled.kind !== "pending" && settled.value !== begun.value) this.#own(settled.value);
      if (settled.kind === "rejected") return this.#failed(settled.value);
      if (settled.kind === "fulfilled") return this.#valued(settled.value);
      if (this.#hasFailed) return this.#failed(this.#own(quickjs.call(this.#parts.rethrow).thrown));
      if (this.#open.size === 0 && this.#timers.next === undefined) {
        return { kind: "runtime-error", message: "The code waits for a promise that never settles." };
      }
      const thrown = this.#wait();
      if (thrown !== 0) return this.#failed(this.#own(thrown));
    }
  }

  /** Runs all jobs that can run. Calls made meanwhile are sent with the next news, or once this takes a while. */
  #drain(): void {
    while (!this.#isOver() && this.#quickjs.hasJobs) this.#quickjs.runJobs(JOBS);
  }

  /** Waits for a word from the host or for a timer, and passes it to the code. Returns what the code throws, or 0. */
  #wait(): Place {
    const due = this.#timers.next;
    if (due !== undefined && !this.#port.hearsUntil(Math.min(due, this.#deadline + 1))) return this.#fire();
    // Not sent while a timer is set: the code then waits for more than answers.
    if (due === undefined && !this.#port.hasWord) this.#port.tell(["waiting"]);
    const word = this.#port.read();
    if (word[0] === "stop" && word[1] === this.#number) this.#stop = "timeout";
    // Any other answer belongs to a call of an earlier run.
    if (word[0] !== "answer" || !this.#open.delete(word[1])) return 0;
    this.#deadline = this.#began + this.#timeout + word[3];
    const quickjs = this.#quickjs;
    const [call, text] = [quickjs.makeNumber(word[1]), quickjs.makeString(word[2])];
    const { value } = quickjs.call(this.#parts.answer, call, text);
    for (const place of [call, text, value]) quickjs.free(place);
    return 0;
  }

  #fire(): Place {
    const quickjs = this.#quickjs;
    const id = this.#timers.take(performance.now());
    if (id === undefined) return 0;
    const timer = quickjs.makeNumber(id);
    const { value, thrown } = quickjs.call(this.#parts.fire, timer);
    quickjs.free(timer);
    if (thrown === 0) quickjs.free(value);
    return thrown;
  }

  /** Prepares the context for another run, or marks it as broken. */
  #tidy(outcome: Outcome): void {
    const quickjs = this.#quickjs;
    for (const place of this.#owned) quickjs.free(place);
    // Leftover jobs would run in the next run. They end at once without a stack, because calls need one.
    quickjs.setStack(1);
    for (let done = 0; done < MOST_LEFTOVERS && quickjs.hasJobs; done += JOBS) quickjs.runJobs(JOBS);
    quickjs.setStack(STACK);
    if (quickjs.hasJobs || outcome.kind === "out-of-memory") this.#isBroken = true;
  }

  #own(place: Place): Place {
    this.#owned.push(place);
    return place;
  }

  #valued(value: Place): Outcome {
    const quickjs = this.#quickjs;
    let serialized: Result;
    try {
      serialized = quickjs.call(this.#parts.serialize, value);
    } catch (thrown) {
      if (!(thrown instanceof RangeError)) throw thrown;
      this.#isBroken = true;
      return { kind: "unserializable-value", message: "it is nested too deep" };
    }
    if (serialized.thrown !== 0) return this.#failed(serialized.thrown);
    const text = quickjs.textOf(this.#own(serialized.value));
    if (text === undefined) return EXHAUSTED;
    const rest = text.slice(1);
    if (text[0] === "u") return { kind: "value" };
    if (text[0] === "x") return { kind: "unserializable-value", message: rest };
    return Buffer.byteLength(rest) > this.#left
      ? { kind: "output-limit", message: "" }
      : { kind: "value", value: rest };
  }

  #failed(thrown: Place): Outcome {
    if (this.#stop !== undefined) return { kind: this.#stop, message: "" };
    const quickjs = this.#quickjs;
    const described = quickjs.call(this.#parts.describe, thrown);
    const text = described.thrown === 0 ? quickjs.textOf(this.#own(described.value)) : undefined;
    if (text === undefined) {
      return quickjs.isExhausted ? EXHAUSTED : { kind: "runtime-error", message: "What was thrown cannot be shown." };
    }
    // Written by the prelude: three texts or nulls.
    const [name, message, stack] = JSON.parse(text) as (string | null)[];
    // With no memory left for an error, QuickJS throws null, an error without a message, or something that is no value.
    const isNone = name === null && (message === "null" || message === UNSHOWN) && quickjs.isExhausted;
    const isBare = message === "" && quickjs.isExhausted;
    // One variant has more text: "out of memory in regexp execution".
    if (isNone || (name === "InternalError" && (isBare || message?.startsWith("out of memory")))) return EXHAUSTED;
    return {
      kind: "runtime-error",
      message: message ?? "",
      ...(name && { name }),
      ...(stack && { stack: this.#places.mend(stack) }),
    };
  }

  /** The outcome of a WebAssembly trap, or of an overflow of the process's stack. */
  #trapped(thrown: unknown): Outcome {
    this.#isBroken = true;
    if (this.#quickjs.isExhausted) return EXHAUSTED;
    if (thrown instanceof RangeError) {
      return { kind: "runtime-error", name: "RangeError", message: "Maximum call stack size exceeded" };
    }
    return { kind: "crashed", message: `The interpreter failed: ${String(thrown).slice(0, 500)}` };
  }

  #called(id: number, text: string): Told {
    const native = NATIVES[id - 1];
    if (native === "call") return this.#stop === undefined ? this.#call(text) : 0;
    if (native !== undefined && native !== "write" && native !== "progress") return this.#serve(native, text);
    if (this.#stop !== undefined) return -1;
    if (native === "write") {
      const json = text.slice(1);
      if (this.#take(String(JSON.parse(json))))
        this.#port.tellLog(Number(text[0]), json, performance.now() - this.#began);
    } else if (isTextTooDeep(text)) {
      return TOO_DEEP;
    } else if (this.#take(text)) {
      this.#port.tell(["progress", text]);
    }
    return this.#stop === undefined ? 0 : -1;
  }

  /** Begins no long work after the deadline: QuickJS checks the deadline only now and then. */
  #serve(native: Helper | "load" | "fail", text: string): Told {
    if (this.#isOver()) return undefined;
    if (native === "fail") this.#hasFailed = true;
    if (native !== "load") return native === "fail" ? 0 : help(native, text, this.#timers);
    const { value, thrown } = this.#quickjs.evaluate(latePiece(text) ?? "undefined", "globals.js");
    if (thrown === 0) return { place: value };
    this.#quickjs.free(thrown);
    return undefined;
  }

  #call(request: string): number {
    if (!this.#hasTools) return refused("none");
    if (this.#open.size >= MOST_CALLS) return refused("tooMany");
    if (Buffer.byteLength(request) > this.#maxOutput) return refused("tooLarge");
    const call = ++this.#calls;
    this.#open.add(call);
    // Sent together with other calls, once the code waits or has run for a while.
    this.#port.tellSoon(["call", call, request]);
    return call;
  }

  /** Counts a text as output. False once the output limit is exceeded. */
  #take(text: string): boolean {
    this.#left -= Buffer.byteLength(text) + ENTRY_BYTES;
    if (this.#left < 0) this.#stop = "output-limit";
    return this.#stop === undefined;
  }

  /** QuickJS asks this now and then while code runs. */
  #isToStop(): boolean {
    this.#port.flush();
    return this.#isOver();
  }

  #isOver(): boolean {
    if (this.#stop === undefined && performance.now() > this.#deadline) this.#stop = "timeout";
    return this.#stop !== undefined;
  }
}
