import type { Hook } from "../../protocol/protocol";
import type { Cell } from "../cell/cell";
import { beginStart } from "../cell/transitions";
import type { Behaviour, Origin } from "../contract";
import { Signal } from "../envelopes/signal";

type HookFunction = (error?: unknown) => unknown;

function functionOf(behaviour: Behaviour | null, hook: Hook): HookFunction | null {
  if (behaviour === null || typeof behaviour === "function") return null;
  const found = behaviour[hook];
  return typeof found === "function" ? found : null;
}

export const hasHook = (behaviour: Behaviour | null, hook: Hook): boolean => functionOf(behaviour, hook) !== null;

/** The metadata that the failed message hands on, while the actor restarts for it. */
const originOf = ({ extras }: Cell): Origin => extras?.restart?.origin ?? null;

/** The signal that calls a hook; null when there is no such hook. */
export function hookOf(
  cell: Cell,
  behaviour: Behaviour | null,
  hook: Hook,
  error?: unknown,
  onDone?: () => void,
): Signal | null {
  const found = functionOf(behaviour, hook);
  if (found === null) return null;
  const signal = new Signal(hook, cell.generation, () => found.call(behaviour, error), hook, onDone);
  signal.origin = originOf(cell);
  return signal;
}

/** Gives the signal of `onStop`, from the behaviour that the factory returned: a later one has no hooks. */
export const onStopOf = (cell: Cell): Signal | null =>
  hookOf(cell, cell.extras?.instance?.behaviours[0] ?? cell.behaviour, "onStop");

/** Puts the hooks of a new instance before all messages. */
export function putFirstHooks(cell: Cell, behaviour: Behaviour): void {
  const restart = cell.extras === null ? null : cell.extras.restart;
  const onRestart = restart === null ? null : hookOf(cell, behaviour, "onRestart", restart.error);
  const isStarted = !hasHook(behaviour, "onStart");
  const onStart = isStarted ? null : hookOf(cell, behaviour, "onStart", undefined, beginStart(cell));
  for (const hook of [onRestart, onStart]) if (hook !== null) cell.mailbox.putFirst([hook]); // Reading `mailbox` creates it.
}
