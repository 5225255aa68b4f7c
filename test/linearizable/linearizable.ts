/**
 * Checks whether a history of concurrent calls could have come from an object that handles one call at a time.
 *
 * The search is that of Wing and Gong ("Testing and verifying concurrent objects", 1993) with the memo of Lowe ("Testing for
 * linearizability", 2017): a set of calls that leads to a known state is not searched a second time. Each key is checked
 * alone, because a history is linearizable when that of each of its objects is (Herlihy and Wing, 1990).
 */

/** A call as its caller saw it. */
export interface Call<Input, Output> {
  /** The object that was called. */
  readonly key: string;
  readonly input: Input;
  /** What came back; `undefined` when nobody knows whether the call took effect (a `timeout`). */
  readonly output: Output | undefined;
  /** The moment before the call was sent, by one clock for all callers. */
  readonly start: number;
  /** The moment after its answer came. A call without an answer may take effect at any later time, or never. */
  readonly end: number;
}

/** How the object behaves when it is called by one caller at a time. */
export interface Model<State extends string | number, Input, Output> {
  readonly initial: State;
  /** The state behind the call, and what it answers. */
  step(state: State, input: Input): { readonly state: State; readonly output: Output };
}

/** The reason why a history is refused: the key, and the calls that no order explains. */
export interface Refusal<Input, Output> {
  readonly key: string;
  /** The calls of the longest order that was found. */
  readonly explained: number;
  /** The calls that could come next, none of which fits. */
  readonly stuck: readonly Call<Input, Output>[];
}

/** @returns null for a linearizable history. */
export function checkLinearizable<State extends string | number, Input, Output>(
  model: Model<State, Input, Output>,
  history: readonly Call<Input, Output>[],
): Refusal<Input, Output> | null {
  for (const [key, calls] of Map.groupBy(history, (call) => call.key)) {
    const refusal = checkKey(model, calls);
    if (refusal !== null) return { key, ...refusal };
  }
  return null;
}

/** A state of the search: the calls that took effect, and the state of the object. */
interface Position<State> {
  readonly state: State;
  /** All answered calls below this index have taken effect. */
  readonly low: number;
  /** The answered calls above it that have taken effect, ascending. */
  readonly ahead: readonly number[];
  /** The calls without an answer that have taken effect, ascending. */
  readonly used: readonly number[];
  /** True where all answered calls were tried: calls without an answer are next. Most never come to that. */
  readonly isRest?: boolean;
}

function checkKey<State extends string | number, Input, Output>(
  model: Model<State, Input, Output>,
  calls: readonly Call<Input, Output>[],
): Omit<Refusal<Input, Output>, "key"> | null {
  const sorted = calls.toSorted((one, other) => one.start - other.start);
  const answered = sorted.filter((call) => call.output !== undefined);
  const unanswered = sorted.filter((call) => call.output === undefined);
  const seen = new Set<string>();
  const open: Position<State>[] = [{ state: model.initial, low: 0, ahead: [], used: [] }];
  let furthest: Omit<Refusal<Input, Output>, "key"> = { explained: -1, stuck: [] };
  for (let position = open.pop(); position !== undefined; position = open.pop()) {
    const { state, low, ahead, used, isRest } = position;
    if (low === answered.length) return null;
    const { next, horizon } = nextCalls(answered, low, ahead);
    if (isRest) {
      for (const [index, call] of unanswered.entries()) {
        if (call.start > horizon) break;
        if (used.includes(index)) continue;
        const after = model.step(state, call.input);
        // A call that changes nothing, and whose answer nobody saw, explains nothing.
        if (after.state !== state) open.push({ state: after.state, low, ahead, used: insert(used, index) });
      }
      continue;
    }
    const memo = `${low}|${ahead}|${used}|${state}`;
    if (seen.has(memo)) continue;
    seen.add(memo);
    const explained = low + ahead.length;
    if (explained > furthest.explained)
      furthest = { explained, stuck: next.map((index) => answered[index] as Call<Input, Output>) };
    open.push({ ...position, isRest: true });
    for (const index of next) {
      const call = answered[index] as Call<Input, Output>; // The index comes from this list.
      const after = model.step(state, call.input);
      if (Bun.deepEquals(after.output, call.output))
        open.push({ state: after.state, used, ...advance(low, ahead, index) });
    }
  }
  return furthest;
}

/** The answered calls that may take effect next: those that began before any other one that is left had ended. */
function nextCalls(answered: readonly Call<unknown, unknown>[], low: number, ahead: readonly number[]) {
  const next: number[] = [];
  const done = new Set(ahead);
  let horizon = Number.POSITIVE_INFINITY;
  for (let index = low; index < answered.length; index++) {
    const call = answered[index] as Call<unknown, unknown>; // Below the length.
    if (call.start > horizon) break;
    if (done.has(index)) continue;
    horizon = Math.min(horizon, call.end);
    next.push(index);
  }
  return { next: next.filter((index) => (answered[index] as Call<unknown, unknown>).start <= horizon), horizon };
}

function advance(low: number, ahead: readonly number[], index: number): { low: number; ahead: readonly number[] } {
  const done = insert(ahead, index);
  let count = 0;
  while (done[count] === low + count) count++;
  return { low: low + count, ahead: done.slice(count) };
}

const insert = (numbers: readonly number[], number: number): readonly number[] =>
  [...numbers, number].sort((one, other) => one - other);

/** A register: it is read, written, or written when it holds an expected value. */
export type RegisterInput =
  | { readonly kind: "read" }
  | { readonly kind: "write"; readonly value: number }
  | { readonly kind: "swap"; readonly expected: number; readonly value: number };

/** A register of numbers that holds 0 at first. A read answers the value, a write `true`, a swap whether it was done. */
export const register: Model<number, RegisterInput, number | boolean> = {
  initial: 0,
  step(state, input) {
    if (input.kind === "read") return { state, output: state };
    if (input.kind === "write") return { state: input.value, output: true };
    return state === input.expected ? { state: input.value, output: true } : { state, output: false };
  },
};

/** A counter that begins at 0. The input is what is added (0 to read it), and it answers the new count. */
export const counter: Model<number, number, number> = {
  initial: 0,
  step: (state, added) => ({ state: state + added, output: state + added }),
};
