import { moduleBytes, moduleLoader } from "./pieces";

const PAGE = 65_536;
/** Pages of memory at the start, fixed by its build. */
const INITIAL = 256;
/** Most pages of memory, fixed by its build. */
const MOST = 32_768;

/** The result of a function of this process: a value, or the place of an existing one, which QuickJS takes over. */
export type Told = number | string | { readonly place: Place } | undefined;

/** Calls from QuickJS to this process. */
export interface Hooks {
  /** Code called a function of `makeFunction` with a text. */
  called(id: number, text: string): Told;
  isToStop(): boolean;
}

/** An address in the memory of QuickJS; 0 is none. */
export type Place = number;

/** The result of code: a value, or what it threw. */
export interface Result {
  readonly value: Place;
  /** 0 if nothing was thrown. */
  readonly thrown: Place;
}

/** The places of an instance's own structures. Equal in all instances whose memory has the same contents. */
export interface Layout {
  readonly runtime: Place;
  readonly context: Place;
  /** Room for the arguments of a call. */
  readonly scratch: Place;
  /** The state of `Math.random`. */
  readonly random: Place;
}

/** The used part of emscripten's module: functions of C, whose arguments and results are places and numbers. */
interface Module {
  HEAPU8: Uint8Array<ArrayBuffer>;
  callbacks: object;
  stringToUTF8(text: string, at: Place, most: number): void;
  _malloc(bytes: number): Place;
  _free(at: Place): void;
  _QTS_NewRuntime(): Place;
  _QTS_RuntimeSetMaxStackSize(runtime: Place, bytes: number): void;
  _QTS_RuntimeEnableInterruptHandler(runtime: Place): void;
  _QTS_NewContext(runtime: Place, intrinsics: number): Place;
  _QTS_NewFunction(context: Place, name: Place, length: number, isConstructor: number, id: number): Place;
  _QTS_NewString(context: Place, text: Place): Place;
  _QTS_NewFloat64(context: Place, value: number): Place;
  _QTS_GetUndefined(): Place;
  _QTS_GetPropNumber(context: Place, of: Place, index: number): Place;
  _QTS_GetString(context: Place, value: Place): Place;
  _QTS_FreeCString(context: Place, text: Place): void;
  _QTS_FreeValuePointer(context: Place, value: Place): void;
  _QTS_ArgvGetJSValueConstPointer(values: Place, index: number): Place;
  _QTS_Eval(context: Place, code: Place, length: number, file: Place, isModule: number, flags: number): Place;
  _QTS_Call(context: Place, callee: Place, self: Place, count: number, values: Place): Place;
  _QTS_ResolveException(context: Place, value: Place): Place;
  _QTS_IsJobPending(runtime: Place): number;
  _QTS_ExecutePendingJob(runtime: Place, most: number, context: Place): Place;
  _QTS_PromiseState(context: Place, promise: Place): number;
  _QTS_PromiseResult(context: Place, promise: Place): Place;
}

/** Most arguments of a call. */
const SCRATCH = 8;
/** Bytes that are enough for a whole context. */
const CONTEXT = 4_096;
const EVAL_GLOBAL = 0;
const ignore = (): void => {};

/** The state of a promise. */
export type Settled = { readonly kind: "pending" } | { readonly kind: "fulfilled" | "rejected"; readonly value: Place };

/**
 * An instance of QuickJS, used through its functions in C. The usual bindings are made for values that live long, and
 * cost several times as much as a small program.
 *
 * A method throws when WebAssembly traps or when the stack of this process overflows. The instance is then stopped in the
 * middle of a function, and unusable.
 */
export class QuickJS {
  /** Most bytes of memory it may take. */
  limit = MOST * PAGE;
  /** True while its last request for memory was over `limit`. The caller resets it. */
  isExhausted = false;
  readonly undefined: Place;
  readonly #module: Module;
  #layout: Layout | undefined;
  #bytes: Buffer | undefined;

  constructor(module: Module, memory: WebAssembly.Memory, hooks: Hooks) {
    this.#module = module;
    const grow = memory.grow.bind(memory);
    memory.grow = (pages) => {
      if (memory.buffer.byteLength + pages * PAGE > this.limit) {
        this.isExhausted = true;
        throw new RangeError("It may have no more memory.");
      }
      this.isExhausted = false; // The allocator asks for more than it needs, and for less when refused.
      return grow(pages);
    };
    const refuse = (): Place => 0;
    module.callbacks = {
      callFunction: (_: unknown, context: Place, _self: Place, _count: number, values: Place, id: number) => {
        const text = this.textOf(module._QTS_ArgvGetJSValueConstPointer(values, 0));
        const told = text === undefined ? undefined : hooks.called(id, text);
        if (typeof told === "number") return module._QTS_NewFloat64(context, told);
        return typeof told === "string" ? this.makeString(told) : (told?.place ?? 0);
      },
      shouldInterrupt: () => (hooks.isToStop() ? 1 : 0),
      freeHostRef: ignore,
      loadModuleSource: refuse,
      normalizeModule: refuse,
    };
    this.undefined = module._QTS_GetUndefined();
  }

  /** All of its memory. The view is replaced when the memory grows. */
  get memory(): Uint8Array<ArrayBuffer> {
    return this.#module.HEAPU8;
  }

  /** Makes the context in which code runs, and finds its layout. */
  makeContext(stackBytes: number): void {
    const { _malloc, _QTS_NewRuntime, _QTS_RuntimeEnableInterruptHandler, _QTS_NewContext } = this.#module;
    const runtime = _QTS_NewRuntime();
    _QTS_RuntimeEnableInterruptHandler(runtime);
    const context = _QTS_NewContext(runtime, 0);
    const layout = { runtime, context, scratch: _malloc(SCRATCH * 4), random: 0 };
    this.#layout = layout;
    this.setStack(stackBytes);
    this.#layout = { ...layout, random: this.#findRandom(context) };
  }

  /** Finds the only number of a context that changes as the state of `Math.random` does in one call. */
  #findRandom(context: Place): Place {
    const before = this.memory.slice(context, context + CONTEXT);
    this.evaluate("Math.random()", "random.js");
    const [old, now] = [new BigUint64Array(before.buffer), new DataView(this.memory.buffer, context)];
    const isState = (index: number) => now.getBigUint64(index * 8, true) === afterRandom(old[index] ?? 0n);
    const found = [...old.keys()].filter((index) => old[index] !== 0n && isState(index));
    const [index] = found;
    if (index === undefined || found.length > 1) throw new Error("This version of QuickJS is not known.");
    return context + index * 8;
  }

  /** Takes on the layout of another instance. The caller copies the memory. */
  adopt(layout: Layout): void {
    this.#layout = layout;
  }

  /** Sets the most bytes of its stack. */
  setStack(bytes: number): void {
    this.#module._QTS_RuntimeSetMaxStackSize(this.layout.runtime, bytes);
  }

  /** Gives `Math.random` another state. */
  seed(bytes: Uint8Array): void {
    this.memory.set(bytes, this.layout.random);
    if (bytes.some((byte) => byte !== 0)) return;
    // A state that is all zeros would stay so.
    this.memory[this.layout.random] ||= 1;
  }

  /** Takes bytes away from the code; false if there are not that many. */
  occupy(bytes: number): boolean {
    return this.#module._malloc(bytes) !== 0;
  }

  makeFunction(name: string, id: number): Place {
    return this.#withText(name, (at) => this.#module._QTS_NewFunction(this.layout.context, at, 1, 0, id));
  }

  makeString(text: string): Place {
    return this.#withText(text, (at) => this.#module._QTS_NewString(this.layout.context, at));
  }

  makeNumber(value: number): Place {
    return this.#module._QTS_NewFloat64(this.layout.context, value);
  }

  itemOf(list: Place, index: number): Place {
    return this.#module._QTS_GetPropNumber(this.layout.context, list, index);
  }

  /** Undefined if there is no memory for the text. It ends at a NUL, which no JSON text has. */
  textOf(value: Place): string | undefined {
    const { context } = this.layout;
    const at = this.#module._QTS_GetString(context, value);
    if (at === 0) return undefined;
    const { buffer } = this.memory;
    if (this.#bytes?.buffer !== buffer) this.#bytes = Buffer.from(buffer);
    const text = this.#bytes.toString("utf8", at, this.#bytes.indexOf(0, at));
    this.#module._QTS_FreeCString(context, at);
    return text;
  }

  free(value: Place): void {
    this.#module._QTS_FreeValuePointer(this.layout.context, value);
  }

  evaluate(code: string, file: string): Result {
    const { _QTS_Eval } = this.#module;
    return this.#withText(code, (at, length) =>
      this.#withText(file, (name) => this.#resultOf(_QTS_Eval(this.layout.context, at, length, name, 0, EVAL_GLOBAL))),
    );
  }

  call(callee: Place, ...values: readonly Place[]): Result {
    const { context, scratch } = this.layout;
    const { memory } = this;
    for (let index = 0; index < values.length; index++) {
      const value = values[index] ?? 0;
      for (let byte = 0; byte < 4; byte++) memory[scratch + index * 4 + byte] = value >>> (byte * 8);
    }
    return this.#resultOf(this.#module._QTS_Call(context, callee, this.undefined, values.length, scratch));
  }

  get hasJobs(): boolean {
    return this.#module._QTS_IsJobPending(this.layout.runtime) !== 0;
  }

  runJobs(most: number): void {
    const { runtime, scratch } = this.layout;
    this.free(this.#module._QTS_ExecutePendingJob(runtime, most, scratch));
  }

  /** A value that is no promise counts as fulfilled with itself. */
  settled(promise: Place): Settled {
    const { context } = this.layout;
    const state = this.#module._QTS_PromiseState(context, promise);
    if (state === 0) return { kind: "pending" };
    if (state !== 1 && state !== 2) return { kind: "fulfilled", value: promise };
    const value = this.#module._QTS_PromiseResult(context, promise);
    return { kind: state === 1 ? "fulfilled" : "rejected", value };
  }

  get layout(): Layout {
    if (this.#layout === undefined) throw new Error("It has no context yet.");
    return this.#layout;
  }

  #resultOf(value: Place): Result {
    const thrown = this.#module._QTS_ResolveException(this.layout.context, value);
    if (thrown !== 0) this.free(value);
    return { value, thrown };
  }

  /** Puts a text into the memory while `work` runs. */
  #withText<Value>(text: string, work: (at: Place, length: number) => Value): Value {
    const length = Buffer.byteLength(text);
    const at = this.#module._malloc(length + 1);
    if (at === 0) throw new Error("A text has no place in the memory.");
    // A lone surrogate has no valid UTF-8, only a form that both `stringToUTF8` and QuickJS know.
    if (!text.isWellFormed()) this.#module.stringToUTF8(text, at, length + 1);
    else encoder.encodeInto(text, this.memory.subarray(at, at + length));
    this.memory[at + length] = 0;
    const value = work(at, length);
    this.#module._free(at);
    return value;
  }
}

/** QuickJS's generator is "xorshift64*" (S. Vigna, An experimental exploration of Marsaglia's xorshift generators, scrambled). */
function afterRandom(state: bigint): bigint {
  let next = state ^ (state >> 12n);
  next ^= BigInt.asUintN(64, next << 25n);
  return next ^ (next >> 27n);
}

const encoder = new TextEncoder();

/** Makes instances. */
export interface Loaded {
  readonly start: (hooks: Hooks) => Promise<QuickJS>;
  /** A hash of the interpreter's code. If it is equal, memory has the same meaning. */
  readonly fingerprint: string;
}

/**
 * Loads the code of QuickJS.
 *
 * @throws if it is not installed.
 */
export async function loadQuickJS(): Promise<Loaded> {
  const load = await moduleLoader();
  const bytes = await moduleBytes();
  const code = new WebAssembly.Module(bytes);
  const instantiate = (imports: object, done: (instance: WebAssembly.Instance) => void): object => {
    done(new WebAssembly.Instance(code, imports as Bun.WebAssembly.Imports));
    return {};
  };
  const start: Loaded["start"] = async (hooks) => {
    const memory = new WebAssembly.Memory({ initial: INITIAL, maximum: MOST });
    const options = { wasmMemory: memory, print: ignore, printErr: ignore, instantiateWasm: instantiate };
    const module = (await load(options)) as Module; // The loader of this module makes one.
    return new QuickJS(module, memory, hooks);
  };
  return { start, fingerprint: Bun.hash(bytes).toString(36) };
}
