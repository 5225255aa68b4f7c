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
  // The cell does not know the protocol of its factory: `never` stands for the context of any. CellContext is the same
  // class for each of them.
  return checkHandlers(cell.environment.enter(factory, new CellContext(cell) as never), operations, cell, FROM_FACTORY);
}

/** The engine that drives the actors of every system. */
export const ENGINE: Engine = { runHook, runMessages, proceed, makeBehaviour };
