/**
 * Callers of the counters of a cluster, and what they saw. Each call is written to a file before it leaves and after its answer, because
 * the process may be killed in between.
 */
import { appendFileSync, readFileSync } from "node:fs";
import type { Ref, SignaturesOf } from "../../../src";
import type { Call } from "../../linearizable/linearizable";
import type { Counter } from "./protocols";

/** The counters. Three nodes named a, b and c own some of them each, and each two of the nodes too. */
export const KEYS = ["k0", "k1", "k2", "k7", "k10", "k13"];
/** Longer than any move of a shard on a busy machine: a call ends because of what happened, and not by its time. */
const TIMEOUT = 60_000;
/** The most that is added: calls whose end nobody knows hardly ever add up to what others added, which the checker would have to try. */
const MOST = 1e6;
/** Errors that say that the call had no effect (P17). */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set(["unreachable", "no-recipient"]);

type CounterRef = Ref<SignaturesOf<typeof Counter>>;
type Line =
  | { readonly id: string; readonly key: string; readonly input: number; readonly start: number }
  | { readonly id: string; readonly end: number; readonly output?: number; readonly error?: string };

/**
 * Calls random counters one after another until `isOver`: about every second call reads. The times are those of the machine's
 * clock, which all processes share (others are of one process alone), an end rounded up to the next millisecond. `pause` comes between two calls.
 */
export async function callOn(
  file: string,
  caller: string,
  ref: (id: string) => CounterRef,
  isOver: () => boolean,
  pause?: () => Promise<void>,
): Promise<void> {
  const write = (line: Line): void => appendFileSync(file, `${JSON.stringify(line)}\n`);
  for (let number = 0; !isOver(); number++) {
    const id = `${caller}-${number}`;
    const key = KEYS[Math.floor(Math.random() * KEYS.length)] as string; // Below the length.
    const input = Math.random() < 0.5 ? 0 : 1 + Math.floor(Math.random() * MOST);
    write({ id, key, input, start: Date.now() });
    const reply = await ref(key).ask("add", input, { timeout: TIMEOUT });
    write(
      reply.isOk()
        ? { id, end: Date.now() + 1, output: reply.value }
        : { id, end: Date.now() + 1, error: reply.error.kind },
    );
    await (pause?.() ?? new Promise((resolve) => setImmediate(resolve)));
  }
}

/** The calls that files tell of. One without an end, or with an error that does not say more, may have taken effect. */
export function historyOf(files: readonly string[]): readonly Call<number, number>[] {
  const calls = new Map<string, Call<number, number>>();
  for (const file of files) {
    for (const text of readFileSync(file, "utf8").split("\n")) {
      if (!text.endsWith("}")) continue; // The last line of a process that was killed.
      const line: Line = JSON.parse(text);
      if ("key" in line) {
        const { id, ...call } = line;
        calls.set(id, { ...call, output: undefined, end: Number.POSITIVE_INFINITY });
        continue;
      }
      const call = calls.get(line.id);
      if (call === undefined) throw new Error(`${file} has an end of ${line.id}, and no start.`);
      if (WITHOUT_EFFECT.has(line.error ?? "")) calls.delete(line.id);
      else calls.set(line.id, { ...call, output: line.output, end: line.end });
    }
  }
  return [...calls.values()];
}
