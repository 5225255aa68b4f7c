import { checkOptions, type OptionChecks, option, type SlowHandlerEvent, type System } from "../index";
import { StackSamples } from "./stack-samples";

/** The options of `logSlowHandlers`. */
export interface SlowHandlerLogOptions {
  /**
   * Milliseconds between two looks of the engine's sampling profiler, from 1, or `Infinity` for lines without a stack. One for a process: the first
   * that is given counts while it lasts. Default: 5.
   */
  readonly interval?: number;
}

const CHECKS: OptionChecks<SlowHandlerLogOptions> = {
  interval: option.rule(
    "is a number of milliseconds from 1, or Infinity",
    (value) => typeof value === "number" && value >= 1,
  ),
};

let samples: StackSamples | undefined;
let users = 0;

/**
 * Writes a line, as a warning, for each handler that takes longer than the system's `slowHandler`: with its actor, operation and
 * `elapsed` milliseconds, and as `stack` the calls in which the event loop spent most of that time, by the engine's sampling profiler. A handler that waits while
 * the event loop is idle has no stack. A call in tail position leaves no frame.
 * Not for use with `bun --cpu-prof`, whose profile it would end.
 *
 * @returns a function that ends it; the system's shutdown does so too.
 * @throws TypeError when an option is invalid.
 * @example
 * const system = createSystem({ logger: consoleLogger(), slowHandler: 50 });
 * logSlowHandlers(system);
 */
export function logSlowHandlers(system: System, options: SlowHandlerLogOptions = {}): () => void {
  checkOptions(options, CHECKS, "logSlowHandlers", "{ interval: 5 }");
  const { interval = 5 } = options;
  const profiler = interval === Number.POSITIVE_INFINITY ? undefined : borrow(interval);
  let pending: SlowHandlerEvent[] = [];
  const write = (): void => {
    const told = pending;
    pending = [];
    // They kept the event loop one after the other: the time of each ends where that of the next begins.
    let from = profiler === undefined ? 0 : profiler.now - told.reduce((sum, { elapsed }) => sum + elapsed, 0);
    for (const event of told) {
      const until = from + event.elapsed;
      log(system, event, profiler?.stackBetween(from - MARGIN, until));
      from = until;
    }
  };
  const unsubscribe = system.events.subscribe((event) => {
    if (event.kind !== "slow-handler") return;
    pending.push(event);
    if (pending.length > 1) return;
    if (profiler === undefined) write();
    else profiler.take(write);
  });
  let hasEnded = false;
  const end = (): void => {
    if (hasEnded) return;
    hasEnded = true;
    unsubscribe();
    if (profiler !== undefined) giveBack();
  };
  system.onShutdown(end);
  return end;
}

/** Milliseconds between the end of a handler and its event, at most, if nothing else keeps the event loop. */
const MARGIN = 2;

function log(system: System, { address, operation, elapsed }: SlowHandlerEvent, stack: string | undefined): void {
  const time = Math.round(elapsed);
  const sentence = `"${operation}" has taken ${time} ms${stack === undefined ? "" : ", and kept the event loop"}.`;
  system.log.warn(sentence, { actor: address, operation, elapsed: time, ...(stack !== undefined && { stack }) });
}

function borrow(interval: number): StackSamples {
  users++;
  samples ??= new StackSamples(interval);
  return samples;
}

function giveBack(): void {
  if (--users > 0) return;
  samples?.end();
  samples = undefined;
}
