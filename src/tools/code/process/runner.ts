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
  own: typeof sure,
  code: Code,
  given: readonly unknown[],
  onValue: (value: unknown) => void,
  onError: (thrown: unknown) => void,
) => void;
type Tell = (line: string) => void;

// Code may change anything in the language, so take the needed functions before it runs.
const { parse, stringify } = JSON;
const { byteLength } = Buffer;
// biome-ignore lint/security/noGlobalEval: this process is there to run code.
const evaluate = globalThis.eval;
const { defineProperty } = Reflect;
const [MathOf, RealDate, PromiseOf] = [Math, Date, Promise];
const now = performance.now.bind(performance);
const soon = setImmediate;
const { call, bind } = Function.prototype;
const settle = call.bind(Promise.prototype.then) as (
  promise: Promise<unknown>,
  onValue: (value: unknown) => void,
  onError?: (thrown: unknown) => void,
) => Promise<unknown>;
const bound = call.bind(bind) as (start: Start, self: undefined, ...args: unknown[]) => () => void;
const { defineProperty: define } = Object;
/** Gives a promise a `constructor` of its own: `then` would ask that of all promises what to make, which code may have changed. */
const sure = (promise: Promise<unknown>): Promise<unknown> =>
  define(promise, "constructor", { __proto__: null, value: undefined } as PropertyDescriptor);
const settled = sure(Promise.resolve());
// Functions made from its text are strict: a function of the code that is called by it then finds no caller, and so neither
// the function nor its arguments.
/** Calls code from a file named "run": beside the code's own calls, its stacks show only this one. */
const start = evaluate(
  "'use strict'; (then, own, code, given, onValue, onError) => { then(own(code(given[0], given[1], given[2])), onValue, onError) }\n//# sourceURL=run",
) as Start;
/** Made from its text, so that the stacks of its errors, which code may log, name no file of the host. */
const makeDate = evaluate(`"use strict"; (${fixedDate})\n//# sourceURL=date`) as typeof fixedDate;
const makeTools = evaluate(`"use strict"; (${toolsInCode})\n//# sourceURL=tools`) as typeof toolsInCode;

/** An object that inherits nothing, and so no setter of the code either. */
const noCalls = (): Record<number, (answer: string) => void> => ({ __proto__: null }) as never; // As a type it has a prototype.

/** The descriptor inherits nothing: code may have given all objects a `get`. False if code has frozen the property. */
const replace = (of: object, key: string, value: unknown): boolean =>
  defineProperty(of, key, { __proto__: null, value, writable: true, configurable: true } as PropertyDescriptor);

/** Replaces `Date` while its clock stands still. */
let standing: DateConstructor | undefined;

/** Stops `Date`, or lets it go on. A `Date` that code has put there itself stays. */
function setTime(time: number | undefined): void {
  if (time === undefined && (standing === undefined || globalThis.Date !== standing)) return;
  standing = time === undefined ? undefined : makeDate(RealDate, time);
  replace(globalThis, "Date", standing ?? RealDate);
  replace(RealDate.prototype, "constructor", standing ?? RealDate);
}

/** Thrown into code that writes too much. The run ends even if the code catches it. */
class TooMuchOutput extends Error {
  override readonly name = "OutputLimit";
}

/** A run of a program in this process, from its order to its end. The end is reported once. */
export class Runner {
  readonly number: number;
  readonly #order: Order;
  readonly #tell: Tell;
  readonly #began = now();
  /** Calls without an answer so far, and their number. No map, whose methods code may have changed. */
  #open = noCalls();
  #openCount = 0;
  /** Bytes of output that are still allowed. */
  #left: number;
  /** The end of its time as known here. The host's clock may have stood still since. */
  #deadline: number;
  #isLooking = false;
  #isWaiting = false;
  #isOver = false;
  static #calls = 0;
  /** The run that was begun last. Tools that an earlier run of the room handed out make calls of this one. */
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
      // The first line is ours; the code's begins on the second. The cast holds by the shape of this text.
      code = evaluate(
        `(function (Bun) { return async function (input, tools, progress) {\n${body}\n} })()\n//# sourceURL=${file}`,
      ) as Code;
    } catch (thrown) {
      this.end(describe(thrown)); // The engine knows less of the language than the parser, or has a smaller stack.
      return;
    }
    const made = tools === undefined ? undefined : makeTools(parse(tools), (request) => Runner.#current.#call(request));
    const given = input === undefined ? undefined : parse(input);
    const progress = (value: unknown): void => this.#progress(value);
    const onValue = (value: unknown): void => this.end(this.#valued(value));
    const onError = (thrown: unknown): void => this.end(describe(thrown));
    // The engine itself begins it, so its stacks have no frames of ours.
    settle(settled, bound(start, undefined, settle, sure, code, [given, made, progress], onValue, onError));
    this.#look();
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Sends a log entry of the console. */
  log(level: number, text: string): void {
    if (this.#isOver) return;
    this.#count(text);
    this.#tell(`["log",${level},${stringify(text)},${now() - this.#began}]`);
  }

  /** @param paused milliseconds for which the run's clock has stood still so far. */
  answer(id: number, text: string, paused: number): void {
    this.#deadline = this.#began + this.#order.timeout + paused;
    this.#isWaiting = false;
    const resolve = this.#open[id];
    if (resolve !== undefined) {
      delete this.#open[id];
      this.#openCount--;
      resolve(text);
    }
    this.#look();
  }

  /** Reports the end of the run. Does nothing if it is over. */
  end(outcome: Outcome): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#open = noCalls();
    this.#openCount = 0;
    // Busy code cannot hear that it should stop, so check the time here.
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
    return new PromiseOf((resolve) => {
      if (this.#isOver) resolve(REFUSALS.over);
      else if (this.#order.tools === undefined) resolve(REFUSALS.none);
      else if (this.#openCount >= MOST_CALLS) resolve(REFUSALS.tooMany);
      else if (byteLength(request) > this.#order.maxOutput) resolve(REFUSALS.tooLarge);
      else {
        const id = ++Runner.#calls;
        this.#open[id] = resolve;
        this.#openCount++;
        this.#tell(`["call",${id},${stringify(request)}]`);
        this.#look();
      }
    });
  }

  /** Reports that the code only waits for answers, as far as can be seen: the event loop came round, and calls are open. */
  #look(): void {
    if (this.#isLooking || this.#openCount === 0) return;
    this.#isLooking = true;
    soon(() => {
      this.#isLooking = false;
      if (this.#isOver || this.#openCount === 0) return;
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

/** Put together by hand: `stringify` of an object would call a `toJSON` that the code may have given to all objects. */
function textOf(outcome: Outcome): string {
  if (outcome.kind === "value") {
    return outcome.value === undefined ? '{"kind":"value"}' : `{"kind":"value","value":${stringify(outcome.value)}}`;
  }
  const { kind, message, name, stack } = outcome;
  const more = (key: string, text: string | undefined) => (text === undefined ? "" : `,"${key}":${stringify(text)}`);
  return `{"kind":"${kind}","message":${stringify(message)}${more("name", name)}${more("stack", stack)}}`;
}
