import type { System } from "../index";
import type { SeededRandom } from "./seeded-random";
import type { FaultsOnRequest } from "./simulate-faults";

/** What a program gets: a system of its own in each run, and what the run can be told. */
export interface Simulation {
  readonly system: System;
  readonly seed: number;
  /** Numbers by chance for the program, from a stream of their own: the same for the same seed. */
  readonly random: SeededRandom;
  /** Virtual milliseconds since the run began. */
  readonly now: number;
  /**
   * Resolves once so many milliseconds of virtual time have passed. Time passes by itself when there is nothing else to
   * do.
   *
   * @throws RangeError at once when it is no number of milliseconds from 0.
   */
  advance(milliseconds: number): Promise<void>;
  /** Resolves once there is nothing to do but to let time pass. */
  settle(): Promise<void>;
  /**
   * What must hold after each turn, and once the promises have settled that it resolved: it throws where it does not.
   */
  always(check: () => void): void;
  /**
   * What must hold in the end, also where the program may stay unfinished: it throws, or rejects, where it does not. It
   * runs when nothing is left to do and no more faults happen, before the shutdown.
   */
  eventually(check: () => unknown): void;
  /** Faults at a moment of the program's own choice. */
  readonly fault: FaultsOnRequest;
}

/** A program to simulate. It throws, or its promise rejects, where it did not go as it should. */
export type SimulatedProgram = (simulation: Simulation) => unknown;
