import type { Address } from "../message/address";
import type { Cell } from "./cell";
import type { Handling } from "./handling";

/**
 * The circle of waiting actors that an ask from one to another would close (P8), from the asker and back to it; null
 * when there is none. A search of the graph of who waits for whom, as in E. G. Coffman et al., "System Deadlocks", ACM
 * Computing Surveys 3(2), 1971; the graph is in memory, so that the search is exact and done before the ask is sent.
 */
export function circleOf(asker: Cell, target: Cell, handling: Handling): Address[] | null {
  const path = pathToWaiter(target, asker, handling, new Set());
  return path === null ? null : [asker.address, ...path];
}

/** From an actor that cannot go on before the asker does, to the asker; null when it can, or may. */
function pathToWaiter(from: Cell, asker: Cell, handling: Handling, seen: Set<Cell>): Address[] | null {
  const { slots, handlings } = from.occupation();
  if (handlings.length < slots) return null; // It can take the message now.
  if (seen.has(from)) return from === asker ? [from.address] : null;
  seen.add(from);
  let found: Address[] | null = null;
  for (const each of handlings) {
    // It goes on as soon as one of its handlings ends.
    const path: Address[] | null = each === handling ? [] : pathOf(each, asker, handling, seen);
    if (path === null) return null;
    found ??= path;
  }
  return [from.address, ...(found ?? [])];
}

function pathOf(waiting: Handling, asker: Cell, handling: Handling, seen: Set<Cell>): Address[] | null {
  for (const wait of waiting.waits()) {
    const relay = wait.cell.extras?.relay ?? null;
    for (const holder of relay === null ? [wait.cell] : relay.holders(wait)) {
      const path = pathToWaiter(holder, asker, handling, seen);
      if (path !== null) return path;
    }
  }
  return null;
}
