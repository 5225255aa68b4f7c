import { expect } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const TICK = 5;
/** /proc/stat counts hundredths of a second. */
const MS_OF_STAT = 10;
/** Ticks that a test may miss, a third of a second, because this thread was busy where others wanted the processor, too. */
const SLACK = 60;
/** Milliseconds in which the kernel may hold this thread, for a disk or a process that starts; for longer it waits for code. */
const HELD = 1_000;
const MB = 1024 * 1024;
/** Bytes that the host may keep after a test's attacks: its engine gives memory back when it likes. */
const KEPT = 64 * MB;

/** Objects of the language that are compared to tell that the host was not changed. */
const BUILT_IN: readonly object[] = [
  ...[
    Object,
    Function,
    Array,
    String,
    Number,
    Boolean,
    Symbol,
    BigInt,
    Promise,
    RegExp,
    Map,
    Set,
    WeakMap,
    Date,
    Error,
  ],
  ...[TypeError, RangeError, JSON, Reflect, Math, ArrayBuffer, Uint8Array, Atomics, console],
  async () => {},
  function* () {},
  async function* () {},
  [][Symbol.iterator](),
].flatMap((each) => [each, (each as { prototype?: object }).prototype ?? {}, Object.getPrototypeOf(each) as object]);

type Trait = readonly [owner: object, key: PropertyKey, value: unknown];

function traits(): Trait[] {
  return BUILT_IN.flatMap((owner) =>
    Reflect.ownKeys(owner).flatMap((key): Trait[] => {
      const { value, get, set } = Reflect.getOwnPropertyDescriptor(owner, key) ?? {};
      return [
        [owner, key, value ?? get],
        [owner, key, set],
      ];
    }),
  );
}

const surroundings = () => ({ globals: Reflect.ownKeys(globalThis), env: { ...process.env }, folder: process.cwd() });

/** Bytes that this process has of the machine, without what it no longer needs. */
export function residentBytes(): number {
  Bun.gc(true);
  return process.memoryUsage.rss();
}

/** The state of the host before an attack, to compare with its state afterwards. */
export class Host {
  readonly #traits = traits();
  readonly #surroundings = surroundings();
  readonly #memory = residentBytes();
  readonly #others = processes();

  /** Fails where an attack has changed, or taken, anything of it. */
  expectUnharmed(): void {
    const now = traits();
    expect(now.length).toBe(this.#traits.length);
    const changed = now.filter((trait, at) => trait.some((part, index) => !Object.is(part, this.#traits[at]?.[index])));
    expect(changed.map(([, key]) => key)).toEqual([]);
    expect(surroundings()).toEqual(this.#surroundings);
    // Garbage is collected only where there seems to be much.
    if (process.memoryUsage.rss() - this.#memory > KEPT) expect(residentBytes() - this.#memory).toBeLessThan(KEPT);
  }

  /** Fails where a process of the tiers is left. */
  expectAlone(): void {
    expect(processes().filter((pid) => !this.#others.includes(pid))).toEqual([]);
  }
}

/**
 * Tells whether the event loop was held up: by a timer of this thread, and by the same one of a thread beside it, which has
 * nothing to do and shows what the machine allows. Ticks that this thread missed because it stood in line for a processor, or
 * because the machine was given to others, are not held against it: nothing of the host runs then. Nor is a moment in which
 * it did not run, and did not want to.
 */
export class Pulse {
  readonly #beside = new Int32Array(new SharedArrayBuffer(4));
  readonly #worker = new Worker(new URL("./programs/ticker.ts", import.meta.url).href);
  #timer: ReturnType<typeof setInterval> | undefined;
  #ticks = 0;
  #start = 0;
  #times = NO_TIME;
  /** Of all tests. */
  #sum: Beats = { here: 0, beside: 0, worked: 0, waited: 0 };

  async begin(): Promise<void> {
    this.#worker.postMessage({ count: this.#beside, every: TICK });
    while (Atomics.load(this.#beside, 0) === 0) await new Promise((go) => setImmediate(go));
    this.#timer = setInterval(() => this.#ticks++, TICK);
    this.reset();
  }

  reset(): void {
    this.#ticks = 0;
    this.#start = Atomics.load(this.#beside, 0);
    this.#times = timesOfThread();
  }

  /** Fails where this thread ticked less than half as often, beside what starts and collections take. */
  expectSteady(): void {
    const { worked, waited } = timesOfThread();
    const test: Beats = {
      here: this.#ticks,
      beside: Atomics.load(this.#beside, 0) - this.#start,
      worked: (worked - this.#times.worked) / TICK,
      waited: (waited - this.#times.waited) / TICK,
    };
    const sum = this.#sum;
    this.#sum = {
      here: sum.here + test.here,
      beside: sum.beside + test.beside,
      worked: sum.worked + test.worked,
      waited: sum.waited + test.waited,
    };
    for (const beats of [test, this.#sum]) expect(beats.here).toBeGreaterThanOrEqual(leastOf(beats));
  }

  end(): void {
    clearInterval(this.#timer);
    this.#worker.terminate();
  }
}

/** Ticks of this thread and of the one beside it, and ticks during which this one worked or could not. */
interface Beats {
  readonly here: number;
  readonly beside: number;
  readonly worked: number;
  readonly waited: number;
}

/** The least ticks that this thread must have had. */
function leastOf({ here, beside, worked, waited }: Beats): number {
  const held = Math.max(0, beside - here - worked - waited);
  return (beside - waited - Math.min(held, HELD / TICK) - SLACK) / 2;
}

const NO_TIME = { worked: 0, waited: 0 };

/**
 * Milliseconds, since some start, that this thread ran; and that it was ready to and no processor was free for it, or the
 * machine's owner gave it to others (proc_pid_schedstat and proc_stat of the kernel's manual); 0 where the kernel does not tell.
 */
function timesOfThread(): typeof NO_TIME {
  const [cpu = "0", delay = "0"] = textOf(`self/task/${process.pid}/schedstat`).split(" ");
  const stolen = /^cpu +(?:\d+ +){7}(\d+)/.exec(textOf("stat"))?.[1] ?? "0";
  return { worked: Number(cpu) / 1e6, waited: Number(delay) / 1e6 + Number(stolen) * MS_OF_STAT };
}

/** The processes of tiers that this one has started and that still run. */
export function processes(): number[] {
  return readdirSync("/proc/self/task")
    .flatMap((thread) => textOf(`self/task/${thread}/children`).trim().split(" "))
    .filter((pid) => /-worker\.ts\0/.test(textOf(`${pid}/cmdline`)) && !/^State:\s+Z/m.test(textOf(`${pid}/status`)))
    .map(Number);
}

function textOf(name: string): string {
  try {
    return readFileSync(join("/proc", name), "utf8");
  } catch {
    return ""; // It ended meanwhile.
  }
}
