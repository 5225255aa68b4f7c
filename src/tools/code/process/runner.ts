import { DEEPEST, isTextTooDeep } from "../depth";
import { ENTRY_BYTES, type Order, type Outcome } from "../pool/channel";
import { fixedDate, randomOf } from "../repeat";
import { MOST_CALLS, REFUSALS } from "../tools/call-refusals";
import { toolsInCode } from "../tools/tools-in-code";
import { describe, faultOf } from "./describe";
import { declare } from "./globals";

type Code = (input: unknown, tools: unknown, progress: unknown) => Promise<unknown>;
type Start = (
  then: typeof settle,
  code: Code,
  given: readonly unknown[],
  onValue: (value: unknown) => void,
  onError: (thrown: unknown) => void,
) => void;
type Tell = (line: string) => void;

// Code may change whatever the language has: what is needed of it is taken before.
const { parse, stringify } = JSON;
const { byteLength } = Buffer;
// biome-ignore lint/security/noGlobalEval: code is what this process is there to run.
const evaluate = globalThis.eval;
const { defineProperty } = Reflect;
const [MathOf, RealDate] = [Math, Date];
const now = performance.now.bind(performance);
const soon = setImmediate;
const { call, bind } = Function.prototype;
const settle = call.bind(Promise.prototype.then) as (
  promise: Promise<unknown>,
  onValue: (value: unknown) => void,
  onError?: (thrown: unknown) => void,
) => Promise<unknown>;
const bound = call.bind(bind) as (start: Start, self: undefined, ...args: unknown[]) => () => void;
const settled = Promise.resolve();
/** Calls code from a file of no name: what its stacks tell beside its own calls, they tell of this one. */
const start = evaluate(
  "(then, code, given, onValue, onError) => { then(code(...given), onValue, onError) }\n//# sourceURL=run",
) as Start;
/** Made of its text, so that the stacks of its errors, which code may log, name no file of the host. */
const makeDate = evaluate(`(${fixedDate})\n//# sourceURL=date`) as typeof fixedDate;
const makeTools = evaluate(`(${toolsInCode})\n//# sourceURL=tools`) as typeof toolsInCode;

/** Inherits nothing: code may have given all objects a `get`. Code that has frozen it keeps what it has. */
const replace = (of: object, key: string, value: unknown): boolean =>
  defineProperty(of, key, { __proto__: null, value, writable: true, configurable: true } as PropertyDescriptor);

/** What stands in the place of `Date`, where its clock stands still. */
let standing: DateConstructor | undefined;

/** Has `Date` stand still, or go on where it stood still before; one that code has put there itself stays. */
function setTime(time: number | undefined): void {
  if (time === undefined && (standing === undefined || globalThis.Date !== standing)) return;
  standing = time === undefined ? undefined : makeDate(RealDate, time);
  replace(globalThis, "Date", standing ?? RealDate);
  replace(RealDate.prototype, "constructor", standing ?? RealDate);
}

/** Ends what writes too much; code may catch it, and is ended all the same. */
class TooMuchOutput extends Error {
  override readonly name = "OutputLimit";
}

/** A run of a program in this process, from its order to its end, which is told once. */
export class Runner {
  readonly number: number;
  readonly #order: Order;
  readonly #tell: Tell;
  readonly #began = now();
  /** Calls that were not answered yet. */
  readonly #open = new Map<number, (answer: string) => void>();
  /** Bytes that may still be written. */
  #left: number;
  /** When its time is up, as far as it is known here: the host's clock may have stood still since. */
  #deadline: number;
  #isLooking = false;
  #isWaiting = false;
  #isOver = false;
  static #calls = 0;
  /** The one that was begun last: what an earlier one of its room has handed out is for this one. */
  static #current: Runner;

  constructor(order: Order, tell: Tell) {
    this.number = order.number;
    this.#order = order;
    this.#left = order.maxOutput;
    this.#deadline = this.#began + order.timeout;
    this.#tell = tell;
  }

  begin(): void {
    Runner.#current = this;
    const { body, file, declares, input, tools, seed, now: time } = this.#order;
    declare(declares);
    if (seed !== undefined) replace(MathOf, "random", randomOf(seed));
    setTime(time);
    let code: Code;
    try {
      // The first line is ours: the code's own begins on the second. By the source's shape it is such a function.
      code = evaluate(
        `(function (Bun) { return async function (input, tools, progress) {\n${body}\n} })()\n//# sourceURL=${file}`,
      ) as Code;
    } catch (thrown) {
      this.end(describe(thrown)); // The engine knows less of the language than who read it, or has a smaller stack.
      return;
    }
    const made = tools === undefined ? undefined : makeTools(parse(tools), (request) => Runner.#current.#call(request));
    const given = input === undefined ? undefined : parse(input);
    const progress = (value: unknown): void => this.#progress(value);
    const onValue = (value: unknown): void => this.end(this.#valued(value));
    const onError = (thrown: unknown): void => this.end(describe(thrown));
    // Begun by the engine itself, its stacks have no frames of ours.
    settle(settled, bound(start, undefined, settle, code, [given, made, progress], onValue, onError));
    this.#look();
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** What a console was told. */
  log(level: number, text: string): void {
    if (this.#isOver) return;
    this.#count(text);
    this.#tell(`["log",${level},${stringify(text)},${now() - this.#began}]`);
  }

  /** @param paused for how many milliseconds the run's clock has stood still so far. */
  answer(id: number, text: string, paused: number): void {
    this.#deadline = this.#began + this.#order.timeout + paused;
    this.#isWaiting = false;
    const resolve = this.#open.get(id);
    this.#open.delete(id);
    resolve?.(text);
    this.#look();
  }

  /** Nothing where it is over. */
  end(outcome: Outcome): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#open.clear();
    // What was busy has not heard that it should stop.
    const isLate = !this.#isWaiting && now() > this.#deadline;
    this.#tell(`["end",${this.number},${isLate ? LATE : textOf(outcome)}]`);
  }

  #progress(value: unknown): void {
    const text: string | undefined = stringify(value);
    if (text === undefined) throw new TypeError(`Progress is told as JSON, which holds no ${typeof value}.`);
    if (isTextTooDeep(text)) throw new TypeError(TOO_DEEP);
    if (this.#isOver) return;
    this.#count(text);
    this.#tell(`["progress",${stringify(text)}]`);
  }

  #count(text: string): void {
    this.#left -= byteLength(text) + ENTRY_BYTES;
    if (this.#left >= 0) return;
    this.end({ kind: "output-limit", message: "" });
    throw new TooMuchOutput("The logs are more than they may be.");
  }

  #call(request: string): Promise<string> {
    return new Promise((resolve) => {
      if (this.#isOver) resolve(REFUSALS.over);
      else if (this.#order.tools === undefined) resolve(REFUSALS.none);
      else if (this.#open.size >= MOST_CALLS) resolve(REFUSALS.tooMany);
      else if (byteLength(request) > this.#order.maxOutput) resolve(REFUSALS.tooLarge);
      else {
        const id = ++Runner.#calls;
        this.#open.set(id, resolve);
        this.#tell(`["call",${id},${stringify(request)}]`);
        this.#look();
      }
    });
  }

  /** Says that it waits for answers only, as far as one can see: the loop came round, and nothing else had begun. */
  #look(): void {
    if (this.#isLooking || this.#open.size === 0) return;
    this.#isLooking = true;
    soon(() => {
      this.#isLooking = false;
      if (this.#isOver || this.#open.size === 0) return;
      this.#isWaiting = true;
      this.#tell('["waiting"]');
    });
  }

  #valued(value: unknown): Outcome {
    const kind = typeof value;
    if (value === undefined) return { kind: "value" };
    if (kind === "bigint") return unserializable("a bigint has no JSON text; return a string of it");
    if (kind === "function") return unserializable("a function has no JSON text; return what it gives");
    if (kind === "symbol") return unserializable("a symbol has no JSON text");
    let text: string | undefined;
    try {
      text = stringify(value);
    } catch (thrown) {
      return unserializable(faultOf(thrown));
    }
    if (text === undefined) return { kind: "value" };
    return byteLength(text) > this.#left ? { kind: "output-limit", message: "" } : { kind: "value", value: text };
  }
}

const TOO_DEEP = `Progress is nested more than ${DEEPEST} deep; tell a flatter value.`;
const LATE = '{"kind":"timeout","message":""}';
const unserializable = (message: string): Outcome => ({ kind: "unserializable-value", message });

/** Put together by hand: `stringify` of an object would ask for a `toJSON` that the code may have given to all. */
function textOf(outcome: Outcome): string {
  if (outcome.kind === "value") {
    return outcome.value === undefined ? '{"kind":"value"}' : `{"kind":"value","value":${stringify(outcome.value)}}`;
  }
  const { kind, message, name, stack } = outcome;
  const more = (key: string, text: string | undefined) => (text === undefined ? "" : `,"${key}":${stringify(text)}`);
  return `{"kind":"${kind}","message":${stringify(message)}${more("name", name)}${more("stack", stack)}}`;
}
