import { join } from "node:path";
import { disk, makeFolder } from "../harness/places";
import { Child } from "./child";
import type { GeneratorHandlers } from "./generator";
import type { WindowResult } from "./results";
import type { Arrivals, Mix } from "./schedule";
import type { Look, SubjectHandlers, Usage } from "./subject";

/** A load, and what is to bear it. */
export interface LoadOptions {
  /** Requests a second to begin with; 0 for none. */
  readonly rate: number;
  readonly mix: Mix;
  /** Default: `poisson`. */
  readonly arrivals?: Arrivals;
  /** Default: 1. */
  readonly seed?: number;
  /** Milliseconds until a request without an answer is given up. Default: 1,000. */
  readonly patience?: number;
  /** The module that opens what is under load; it exports an `Open` as `open`. Default: the actors of `actors.ts`. */
  readonly subject?: URL;
  /** Stops the load when aborted; what waits for it rejects. Default: none. */
  readonly signal?: AbortSignal;
}

/**
 * Load on an open schedule, from a process of its own on actors in another one.
 *
 * @example
 * await using load = await startLoad({ rate: 1_000, mix: { ask: 1 } });
 * const { all } = await load.window(2_000);
 */
export interface Load extends AsyncDisposable {
  /** The process under load. */
  readonly pid: number;
  /** Goes on with another rate or mix, at once. */
  change(to: { readonly rate?: number; readonly mix?: Mix }): Promise<void>;
  /**
   * The figures of the requests that are due in the next so many milliseconds, once all of these are answered or given up.
   * Windows may overlap.
   */
  window(milliseconds: number): Promise<WindowResult>;
  /**
   * Sends no more, and resolves once nothing is open and no message waits or runs; rejects when some do after ten seconds.
   * `change` begins again.
   */
  rest(): Promise<void>;
  /** Runs a command of the subject; `stall` blocks its event loop for so many milliseconds, in each. */
  command(name: string, argument?: unknown): Promise<unknown>;
  /** The subject's audit and its memory after a forced collection, which stalls it for that time. */
  look(): Promise<Look>;
  usage(): Promise<Usage>;
  /** Ends both processes and removes what they kept. */
  stop(): Promise<void>;
}

/** Starts both processes, and the load. */
export async function startLoad(options: LoadOptions): Promise<Load> {
  const { rate, mix, arrivals = "poisson", seed = 1, patience = 1_000 } = options;
  const { subject: module = new URL("actors.ts", import.meta.url) } = options;
  const { path: folder, remove } = makeFolder(disk, "envoi-stress-");
  const path = join(folder, "socket");
  const subject = new Child<SubjectHandlers>(new URL("subject.ts", import.meta.url), [module.href, path, folder]);
  const children: { end(): Promise<void> }[] = [subject];
  let ending: Promise<void> | undefined;
  const stop = () => {
    options.signal?.removeEventListener("abort", stop);
    ending ??= Promise.all(children.map((child) => child.end())).then(remove);
    return ending;
  };
  options.signal?.addEventListener("abort", stop, { once: true });
  try {
    options.signal?.throwIfAborted();
    await subject.call("ready", undefined as never);
    const generator = new Child<GeneratorHandlers>(new URL("generator.ts", import.meta.url), [path]);
    children.push(generator);
    await generator.call("begin", { rate, mix, arrivals, seed, patience });
    return { pid: subject.pid, stop, [Symbol.asyncDispose]: stop, ...calls(subject, generator) };
  } catch (thrown) {
    await stop();
    throw thrown;
  }
}

function calls(subject: Child<SubjectHandlers>, generator: Child<GeneratorHandlers>) {
  const none = undefined as never; // For handlers that take no argument.
  return {
    change: (to: { readonly rate?: number; readonly mix?: Mix }) => generator.call("change", to),
    async window(milliseconds: number): Promise<WindowResult> {
      const usage = async (): Promise<Usage> => subject.call("usage", none);
      const later = async (): Promise<Usage> => Bun.sleep(milliseconds).then(usage);
      const [seen, before, after] = await Promise.all([generator.call("window", milliseconds), usage(), later()]);
      const processor = (after.processor - before.processor) / (after.at - before.at);
      return { ...seen, subject: { processor, rss: after.rss } };
    },
    rest: async () => {
      await generator.call("rest", none);
      await subject.call("idle", none);
    },
    command: (name: string, argument?: unknown) => subject.call("command", { name, argument }),
    look: () => subject.call("look", none),
    usage: () => subject.call("usage", none),
  };
}
