import type { Behaviour, Cell } from "../cell/cell";
import { CellContext } from "./cell-context";
import { checkHandlers, FROM_FACTORY } from "../handlers";

/** Runs the factory of an actor. */
export function makeBehaviour(cell: Cell): Behaviour {
  const { factory, operations } = cell;
  if (factory === null || operations === null) {
    if (cell.behaviour === null) throw new Error(`${cell.address} has no factory.`);
    return cell.behaviour;
  }
  return checkHandlers(cell.environment.enter(factory, new CellContext<never>(cell)), operations, cell, FROM_FACTORY);
}
