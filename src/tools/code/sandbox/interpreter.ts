import type { QuickJSContext, QuickJSHandle, QuickJSSyncVariant } from "quickjs-emscripten-core";
import { ENTRY_BYTES, type Order, type Outcome } from "../pool/channel";
import { FILE } from "../pool/program-file";
import { prelude } from "./prelude";

const PAGE = 65_536;
/** Pages that QuickJS's build begins with. */
const INITIAL = 256;
/** Bytes: with more, recursion would run into the end of the process's own stack, whose place the code cannot be told. */
const STACK = 256 * 1024;
/** How many jobs run before the deadline is looked at from outside: an async function swallows an interrupt. */
const JOBS = 100;

export type Log = (level: number, text: string, time: number) => void;

/** Makes interpreters, each with a WebAssembly instance and a memory of its own, so that none knows of another. */
export class Interpreters {
  readonly #core: typeof import("quickjs-emscripten-core");
  readonly #variant: QuickJSSyncVariant;
  readonly #module: WebAssembly.Module;

  private constructor(
    core: typeof import("quickjs-emscripten-core"),
    variant: QuickJSSyncVariant,
    module: WebAssembly.Module,
  ) {
    this.#core = core;
    this.#variant = variant;
    this.#module = module;
  }

  static async load(): Promise<Interpreters> {
    const [core, { default: variant }] = await Promise.all([
      import("quickjs-emscripten-core"),
      import("@jitl/quickjs-wasmfile-release-sync"),
    ]);
    const path = Bun.fileURLToPath(import.meta.resolve("@jitl/quickjs-wasmfile-release-sync/wasm"));
    return new Interpreters(core, variant, new WebAssembly.Module(await Bun.file(path).arrayBuffer()));
  }

  /** A new interpreter that takes at most about `bytes` of memory. */
  async prepare(bytes: number): Promise<Interpreter> {
    const maximum = Math.min(Math.max(INITIAL, Math.ceil(bytes / PAGE)), 32_768);
    const memory = new WebAssembly.Memory({ initial: INITIAL, maximum });
    const { newVariant, newQuickJSWASMModuleFromVariant } = this.#core;
    const instantiate = (imports: object, done: (instance: WebAssembly.Instance) => void): object => {
      done(new WebAssembly.Instance(this.#module, imports as Bun.WebAssembly.Imports));
      return {};
    };
    const quickjs = await newQuickJSWASMModuleFromVariant(
      newVariant(this.#variant, {
        wasmMemory: memory,
        // The declarations of the loader's options leave this one out, which its code has.
        emscriptenModule: { instantiateWasm: instantiate, print: ignore, printErr: ignore } as object,
      }),
    );
    // What is left of the first pages is taken from a run that may have less than they are.
    const ballast = INITIAL * PAGE - bytes;
    if (ballast > 0) (quickjs.getFFI() as unknown as Allocator).module._malloc(Math.min(ballast, 9 * 1024 * 1024));
    return new Interpreter(quickjs.newContext(), memory, bytes);
  }
}

/** The part of the bindings that is marked private in their declarations. */
interface Allocator {
  readonly module: { _malloc(bytes: number): number };
}

const ignore = (): void => {};

/** Runs one program, once. */
export class Interpreter {
  readonly bytes: number;
  readonly #context: QuickJSContext;
  readonly #memory: WebAssembly.Memory;
  readonly #begin: QuickJSHandle;
  readonly #serialize: QuickJSHandle;
  readonly #describe: QuickJSHandle;
  #log: Log = ignore;
  #began = 0;
  #deadline = Number.POSITIVE_INFINITY;
  /** Bytes that the logs may still take. */
  #left = 0;
  #stop: "timeout" | "output-limit" | undefined;
  #isExhausted = false;

  constructor(context: QuickJSContext, memory: WebAssembly.Memory, bytes: number) {
    this.bytes = bytes;
    this.#context = context;
    this.#memory = memory;
    const { runtime } = context;
    runtime.setMaxStackSize(STACK);
    runtime.setInterruptHandler(() => this.#isToStop());
    const grow = memory.grow.bind(memory);
    memory.grow = (pages) => {
      this.#isExhausted = true;
      const before = grow(pages);
      this.#isExhausted = false;
      return before;
    };
    const source = context.unwrapResult(context.evalCode(`(${prelude})`, "prelude.js", { type: "global" }));
    const write = context.newFunction("write", (level, text) => {
      this.#write(context.getNumber(level), context.getString(text));
    });
    const parts = context.unwrapResult(context.callFunction(source, context.undefined, write));
    this.#begin = context.getProp(parts, 0);
    this.#serialize = context.getProp(parts, 1);
    this.#describe = context.getProp(parts, 2);
    for (const handle of [source, write, parts]) handle.dispose();
  }

  run(order: Order, log: Log): Outcome {
    this.#log = log;
    this.#began = performance.now();
    this.#deadline = this.#began + order.timeout;
    this.#left = order.maxOutput;
    let outcome: Outcome;
    try {
      outcome = this.#evaluate(order);
    } catch (thrown) {
      outcome = this.#trapped(thrown);
    }
    if (this.#stop === "timeout") return { kind: "timeout", message: "" };
    if (this.#stop === "output-limit") return { kind: "output-limit", message: "" };
    return outcome;
  }

  /** Whether it took more memory than interpreters begin with. */
  get hasGrown(): boolean {
    return this.#memory.buffer.byteLength > INITIAL * PAGE;
  }

  dispose(): void {
    // The memory goes as a whole: an interpreter that was stopped somewhere could not free its values one by one.
    for (const handle of [this.#begin, this.#serialize, this.#describe]) if (handle.alive) handle.dispose();
  }

  #evaluate({ body, input, maxOutput }: Order): Outcome {
    const context = this.#context;
    const program = context.evalCode(`(async function (input) {\n${body}\n})`, FILE, { type: "global" });
    if (program.error) return this.#failed(program.error);
    const text = input === undefined ? context.undefined : context.newString(input);
    const begun = context.callFunction(
      this.#begin,
      context.undefined,
      program.value,
      text,
      context.newNumber(maxOutput),
    );
    program.value.dispose();
    if (text.alive) text.dispose();
    if (begun.error) return this.#failed(begun.error);
    this.#drain();
    if (this.#stop !== undefined) return { kind: this.#stop, message: "" };
    const state = context.getPromiseState(begun.value);
    if (state.type === "pending") {
      return { kind: "runtime-error", message: "The code waits for a promise that never settles." };
    }
    return state.type === "rejected" ? this.#failed(state.error) : this.#valued(state.value);
  }

  #drain(): void {
    const { runtime } = this.#context;
    while (!this.#isToStop() && runtime.hasPendingJob()) {
      const result = runtime.executePendingJobs(JOBS);
      result.dispose();
    }
  }

  #valued(value: QuickJSHandle): Outcome {
    const context = this.#context;
    let serialized: ReturnType<QuickJSContext["callFunction"]>;
    try {
      serialized = context.callFunction(this.#serialize, context.undefined, value);
    } catch (thrown) {
      if (!(thrown instanceof RangeError)) throw thrown;
      return { kind: "unserializable-value", message: "it is nested too deep" };
    }
    if (serialized.error) return this.#failed(serialized.error);
    const text = context.getString(serialized.value);
    const rest = text.slice(1);
    if (text[0] === "u") return { kind: "value" };
    if (text[0] === "x") return { kind: "unserializable-value", message: rest };
    if (Buffer.byteLength(rest) > this.#left) return { kind: "output-limit", message: "" };
    return { kind: "value", value: rest };
  }

  #failed(thrown: QuickJSHandle): Outcome {
    if (this.#stop !== undefined) return { kind: this.#stop, message: "" };
    const context = this.#context;
    // Where no memory is left to make an error, null is thrown.
    if (this.#isExhausted && context.typeof(thrown) === "object" && context.eq(thrown, context.null)) return EXHAUSTED;
    const described = context.callFunction(this.#describe, context.undefined, thrown);
    if (described.error) {
      return this.#isExhausted ? EXHAUSTED : { kind: "runtime-error", message: "What was thrown cannot be shown." };
    }
    // Written by the prelude: three texts or nulls.
    const [name, message, stack] = JSON.parse(context.getString(described.value)) as (string | null)[];
    if (name === "InternalError" && message === "out of memory") return EXHAUSTED;
    return {
      kind: "runtime-error",
      message: message ?? "",
      ...(name && { name }),
      ...(stack && { stack }),
    };
  }

  /** What WebAssembly ended itself, or the end of the process's stack. */
  #trapped(thrown: unknown): Outcome {
    if (this.#isExhausted) return EXHAUSTED;
    if (thrown instanceof RangeError) {
      return { kind: "runtime-error", name: "RangeError", message: "Maximum call stack size exceeded" };
    }
    return { kind: "crashed", message: `The interpreter failed: ${String(thrown).slice(0, 500)}` };
  }

  #write(level: number, json: string): void {
    if (this.#stop !== undefined) return;
    const text = String(JSON.parse(json));
    this.#left -= Buffer.byteLength(text) + ENTRY_BYTES;
    if (this.#left < 0) this.#stop = "output-limit";
    else this.#log(level, text, performance.now() - this.#began);
  }

  #isToStop(): boolean {
    if (this.#stop === undefined && performance.now() > this.#deadline) this.#stop = "timeout";
    return this.#stop !== undefined;
  }
}

const EXHAUSTED: Outcome = { kind: "out-of-memory", message: "" };
