import type { System } from "envoi";
import type { Operation } from "../operation";
import type { Mix } from "../schedule";

/** Something that goes wrong under load: its file exports it as `fault`, and the subject in which it does as `open`. */
export interface FaultPlan {
  readonly name: string;
  /** A sentence: what happens. */
  readonly about: string;
  /** Requests a second. */
  readonly rate: number;
  /** `ask` in it is of an actor that has nothing to do with the fault. */
  readonly mix: Mix;
  /** What may come of the requests while it goes on, by operation; of others, nothing may go wrong. */
  readonly allowed: Readonly<Record<string, readonly string[]>>;
  /** Its own file. */
  readonly module: string;
}

/** The same in the process under load. */
export interface Trouble {
  /** What it happens to; what they are asked while nothing happens goes well. */
  readonly operations: Readonly<Record<string, Operation>>;
  begin(): void;
  end(): void;
  /** How often what has happened. */
  happened(): Readonly<Record<string, number>>;
  /** What should hold at rest and does not, a sentence each. */
  complaints(): readonly string[];
}

/** What a subject makes its trouble with. */
export interface Place {
  readonly system: System;
  /** An empty one. */
  readonly folder: string;
  /** How many lines the system has logged. */
  lines(): number;
}

export type MakeTrouble = (place: Place) => Trouble | Promise<Trouble>;

/** What a subject tells of its trouble at rest. */
export interface Told {
  readonly happened: Readonly<Record<string, number>>;
  readonly failed: readonly string[];
}
