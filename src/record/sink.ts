import type { Place } from "./transforms/transform";

/** Takes the lines of a recording. It never throws and never waits. */
export interface Sink {
  /**
   * Takes one line, without its line break.
   *
   * @param isMessage true for the line of a message: the lines and the messages that are dropped are counted apart.
   * @returns false when the line was dropped.
   */
  append(line: string, isMessage: boolean): boolean;
}

/** Writes values as JSON text. It never throws. */
export interface Values {
  text(value: unknown, place: Place): string;
}
