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

/** The place of a value in a recording, by which its transforms are chosen. */
export interface Place {
  readonly address: string;
  readonly operation: string;
  readonly part: "payload" | "reply" | "item" | "error" | "metadata";
}

/** Writes values as JSON text. It never throws. */
export interface Values {
  text(value: unknown, place: Place): string;
}
