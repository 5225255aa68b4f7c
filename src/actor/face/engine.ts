import type { Cell, Engine } from "../cell/cell";
import type { Behaviour } from "../contract";
import { checkHandlers, FROM_FACTORY } from "../handlers";
import { proceed } from "../life/lifecycle";
import { runHook, runMessages } from "../life/turn";
import { CellContext } from "./cell-context";

/** Runs the factory of an actor. */
function makeBehaviour(cell: Cell): Behaviour {
  const { factory, operations } = cell;
  if (factory === null || operations === null) {
    if (cell.behaviour === null) throw new Error(`${cell.address} has no factory.`);
    return cell.behaviour;
  }
  return checkHandlers(
    cell.environment.enter(factory, new CellContext<unknown>(cell) as never),
    operations,
    cell,
    FROM_FACTORY,
  );
}

/** The engine that drives the actors of every system. */
export const ENGINE: Engine = { runHook, runMessages, proceed, makeBehaviour };
