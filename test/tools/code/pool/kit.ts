import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../../../src/index";
import { type PoolOptions, ProcessPool } from "../../../../src/tools/code/pool/process-pool";
import type { Calls, Ended, Program, Room, Run, RunClock } from "../../../../src/tools/code/tier";

export const never = new AbortController().signal;

export function programOf(body: string): Program {
  return { body, declares: [], place: (line, column) => ({ line, column }) };
}

export function runOf(body: string, options: Partial<Run> = {}): Run {
  return {
    program: programOf(body),
    input: undefined,
    timeout: 20_000,
    memory: 64 * 1024 * 1024,
    maxOutput: 1024 * 1024,
    signal: never,
    ...options,
  };
}

export const programIn = (name: string): string => join(import.meta.dir, `programs/${name}.ts`);

/** A pool of processes that keep to the agreement, unless another program is named. */
export function poolOf(options: Partial<PoolOptions> = {}): ProcessPool {
  return new ProcessPool({
    isolation: "sandbox",
    program: programIn("speaker"),
    size: 1,
    maxWaiting: 1_000,
    clock: systemClock,
    remedy: "do something",
    ...options,
  });
}

/** The value of a run that has one. */
export async function valueFrom(ended: Ended | Promise<Ended>): Promise<unknown> {
  const what = await ended;
  if (what.kind !== "value") throw new Error(`${what.kind}: ${what.message}`);
  return what.value === undefined ? undefined : JSON.parse(what.value);
}

/** Runs one after the other, each of which has a value. */
export const valuesIn = (room: Room, ...bodies: string[]): Promise<unknown[]> =>
  Promise.all(bodies.map((body) => valueFrom(room.run(runOf(body)))));

/** Calls that a test answers when it likes. */
export class Desk implements Calls {
  readonly tools = "{}";
  readonly made: { readonly request: string; readonly clock: RunClock; answer(text: string): void }[] = [];

  call(request: string, clock: RunClock): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<string>();
    this.made.push({ request, clock, answer: resolve });
    return promise;
  }

  /** The call that was made first of those that were not taken yet. */
  async next(): Promise<Desk["made"][number]> {
    await until(() => this.made.length > 0);
    // Just seen there.
    return this.made.shift() as Desk["made"][number];
  }
}

/** The processes of pools that this one started and that are still there, as the kernel tells. */
export function children(): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && isOurs(name))
    .map(Number);
}

function isOurs(pid: string): boolean {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const isAlive = !/^State:\s+Z/m.test(status) && new RegExp(`^PPid:\\s+${process.pid}$`, "m").test(status);
    return isAlive && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("code/pool/programs/");
  } catch {
    return false; // It ended meanwhile.
  }
}

/** Waits for what nobody tells of. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}
