import { type Profiler, Session } from "node:inspector";
import { type ClockTimer, systemClock } from "../index";

/** A look at what the engine ran. */
interface Sample {
  /** In milliseconds since 1970. */
  readonly time: number;
  /** The innermost call. */
  readonly call: number;
  readonly tree: CallTree;
}

/** Milliseconds after which samples are taken from the engine, which keeps them without a bound. */
const PERIOD = 1_000;
/** Frames of a stack that are told. */
const DEEPEST = 30;

/**
 * The engine's sampling profiler, by the Chrome DevTools Protocol. It is to be used once in a process, which has one of them.
 * A block of the event loop is found whole if it is asked for within a period of its end.
 */
export class StackSamples {
  readonly #session = new Session();
  /** Milliseconds between two looks. */
  readonly #interval: number;
  #timer: ClockTimer | undefined;
  #before: readonly Sample[] = [];
  #latest: readonly Sample[] = [];

  constructor(interval: number) {
    this.#interval = interval;
    this.#session.connect();
    this.#session.post("Profiler.enable");
    this.#session.post("Profiler.setSamplingInterval", { interval: interval * 1_000 });
    this.#session.post("Profiler.start");
    this.#takeOften();
  }

  /** The time that the engine gives its samples, in milliseconds since 1970: that of the machine, whatever the clock of the system says. */
  get now(): number {
    return systemClock.wallTime();
  }

  #takeOften(): void {
    this.#timer = systemClock.setTimer(() => {
      this.take();
      this.#takeOften();
    }, PERIOD);
    this.#timer.unref(); // To look must not keep the process alive.
  }

  /** Takes from the engine what it has, and calls back. */
  take(then?: () => void): void {
    this.#session.post("Profiler.stop", (error, result) => {
      this.#before = this.#latest;
      this.#latest = error === null ? samplesOf(result.profile) : [];
      this.#session.post("Profiler.start");
      then?.();
    });
  }

  /**
   * The stack that was seen most often in a time, innermost call first; undefined when fewer than a quarter of
   * the looks saw one: the event loop was idle.
   *
   * @param from milliseconds since 1970.
   */
  stackBetween(from: number, until: number): string | undefined {
    const within = [...this.#before, ...this.#latest].filter(({ time }) => time > from && time <= until);
    if (within.length * this.#interval * 4 < until - from) return undefined;
    const byStack = Map.groupBy(within, ({ tree, call }) => tree.stackOf(call));
    const [most] = [...byStack].sort(([, one], [, other]) => other.length - one.length);
    return most?.[0];
  }

  end(): void {
    this.#timer?.cancel();
    this.#session.post("Profiler.stop", () => this.#session.disconnect());
  }
}

function samplesOf(profile: Profiler.Profile): readonly Sample[] {
  const { samples = [], timeDeltas = [] } = profile;
  const tree = new CallTree(profile.nodes);
  let time = profile.startTime;
  return samples.map((call, index) => {
    time += timeDeltas[index] ?? 0;
    return { time: time / 1_000, call, tree };
  });
}

/** The calls of a profile by their numbers. */
class CallTree {
  readonly #calls = new Map<number, Profiler.ProfileNode>();
  readonly #callers = new Map<number, number>();

  constructor(nodes: readonly Profiler.ProfileNode[]) {
    for (const node of nodes) {
      this.#calls.set(node.id, node);
      for (const child of node.children ?? []) this.#callers.set(child, node.id);
    }
  }

  stackOf(innermost: number): string {
    const frames: string[] = [];
    let id: number | undefined = innermost;
    while (id !== undefined && frames.length < DEEPEST) {
      const call = this.#calls.get(id);
      id = this.#callers.get(id);
      if (call !== undefined && id !== undefined) frames.push(frameOf(call)); // The root is no function.
    }
    return frames.join("\n");
  }
}

/** A function with its file, and the line of it that was seen most; without such a line, that where it begins. */
function frameOf({ callFrame, positionTicks = [] }: Profiler.ProfileNode): string {
  const { functionName, url, lineNumber } = callFrame;
  const name = functionName === "" ? "(anonymous)" : functionName;
  if (url === "") return `at ${name}`; // Built into the engine.
  const [busiest] = [...positionTicks].sort((one, other) => other.ticks - one.ticks);
  return `at ${name} (${url.replace(/^file:\/\//, "")}:${busiest?.line ?? lineNumber + 1})`;
}
