import type { Cell } from "../cell/cell";
import { beginStart } from "../cell/transitions";
import type { Behaviour } from "../contract";
import { type Hook, Signal } from "../envelopes/signal";

type HookFunction = (error?: unknown) => unknown;

function functionOf(behaviour: Behaviour | null, hook: Hook): HookFunction | null {
  if (behaviour === null || typeof behaviour === "function") return null;
  const found = behaviour[hook];
  return typeof found === "function" ? found : null;
}

export const hasHook = (behaviour: Behaviour | null, hook: Hook): boolean => functionOf(behaviour, hook) !== null;

/** The signal that calls a hook; null when there is no such hook. */
export function hookOf(
  { generation }: Cell,
  behaviour: Behaviour | null,
  hook: Hook,
  error?: unknown,
  onDone?: () => void,
): Signal | null {
  const found = functionOf(behaviour, hook);
  return found === null ? null : new Signal(hook, generation, () => found.call(behaviour, error), hook, onDone);
}

/** Puts the hooks of a new instance before all messages. */
export function putFirstHooks(cell: Cell, behaviour: Behaviour): void {
  const restart = cell.extras === null ? null : cell.extras.restart;
  if (restart !== null) putFirst(cell, hookOf(cell, behaviour, "onRestart", restart.error));
  if (hasHook(behaviour, "onStart")) putFirst(cell, startHookOf(cell, behaviour));
}

function putFirst(cell: Cell, hook: Signal | null): void {
  if (hook !== null) cell.mailbox.putFirst([hook]); // Reading `mailbox` creates it.
}

function startHookOf(cell: Cell, behaviour: Behaviour): Signal | null {
  return hookOf(cell, behaviour, "onStart", undefined, beginStart(cell));
}
