import type { Clock, System } from "../index";
import type { SeededRandom } from "./seeded-random";
import type { FaultsOnRequest } from "./simulate-faults";

/** The argument of a program: the run's own system, and the controls of the run. */
export interface Simulation {
  readonly system: System;
  /**
   * Makes another system of the same run, with the same clock and the same dispatcher: for programs of several systems, which
   * `createLink` joins. It is checked and shut down as the first one; the faults `stop` hit only the first one by chance.
   */
  createSystem(): System;
  /** The run's clock, such as for `createLink`. */
  readonly clock: Clock;
  readonly seed: number;
  /** Random numbers for the program, from their own stream: the same for the same seed. */
  readonly random: SeededRandom;
  /** Virtual milliseconds since the run began. */
  readonly now: number;
  /**
   * Resolves once `milliseconds` of virtual time have passed. Time passes by itself when there is nothing else to do.
   *
   * @throws RangeError at once when `milliseconds` is not a number from 0.
   */
  advance(milliseconds: number): Promise<void>;
  /** Resolves once there is nothing to do except to let time pass. */
  settle(): Promise<void>;
  /**
   * Adds a check that runs after each turn, and again once the promises resolved by the turn have settled. It throws to fail.
   */
  always(check: () => void): void;
  /**
   * Adds a check that runs at the end, even if the program may stay unfinished: when nothing is left to do and no more faults
   * happen, before the shutdown. It throws or rejects to fail.
   */
  eventually(check: () => unknown): void;
  /** Faults at a moment that the program chooses. */
  readonly fault: FaultsOnRequest;
}

/** A program to simulate. It throws, or its promise rejects, to fail the run. */
export type SimulatedProgram = (simulation: Simulation) => unknown;
