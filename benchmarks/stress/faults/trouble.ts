import { createSystem, defineProtocol, type System, Type } from "envoi";
import type { Mix } from "../schedule";
import type { Open, Operation } from "../subject";

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

const Echo = defineProtocol("echo", { say: { payload: Type.Number(), reply: Type.Number() } });

/** A client gives up as soon, in milliseconds. */
export const TIMEOUT = 1_000;

/** A subject in which something goes wrong, and an actor that has nothing to do with it. */
export const subjectOf =
  (make: MakeTrouble): Open =>
  async (folder) => {
    let lines = 0;
    const log = () => {
      lines++;
    };
    const system = createSystem({
      logger: { warn: log, error: log },
      supervision: { limit: Number.POSITIVE_INFINITY },
    });
    const echo = system.spawn("bystander", Echo, () => ({ say: (number) => number }));
    const trouble = await make({ system, folder, lines: () => lines });
    let asked = 0;
    let settled = 0;
    const counted =
      (operation: Operation): Operation =>
      async (number) => {
        asked++;
        try {
          return await operation(number);
        } finally {
          settled++;
        }
      };
    const ask: Operation = async (number) => {
      const answer = await echo.ask("say", number, { timeout: TIMEOUT });
      if (answer.isErr()) return answer.error.kind;
      return answer.value === number ? number : "wrong";
    };
    const operations = Object.entries({ ...trouble.operations, ask }).map(
      ([name, operation]) => [name, counted(operation)] as const,
    );
    const told = (): Told => {
      const failed = [...trouble.complaints()];
      if (asked !== settled) failed.push(`Of ${asked} requests, ${settled} were settled.`);
      return { happened: { ...trouble.happened(), "lines logged": lines }, failed };
    };
    return {
      operations: Object.fromEntries(operations),
      audit: () => system.router.audit(),
      close: () => system.shutdown().then(() => {}),
      commands: { begin: () => trouble.begin(), end: () => trouble.end(), told },
    };
  };
