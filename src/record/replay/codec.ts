import type { Place } from "../transforms/transform";
import { readValue } from "../values/read-value";
import { ValueWriter, type ValueWriterOptions } from "../values/value-writer";

/** Brings values into the form of a recording and back. */
export interface Codec {
  /** Gives a value as it would stand in the file, after the same transforms. Never throws. */
  write(value: unknown, place: Place): unknown;
  /** Gives the value that stands in the file; one that is written by its size and hash stays opaque. */
  read(written: unknown): unknown;
  /** True when texts are redacted by the key of the recording, so that equal texts have equal hashes. */
  readonly sharesKey: boolean;
}

/** The codec of values that were written with these options. */
export function codecOf(options: ValueWriterOptions): Codec {
  const writer = new ValueWriter(options);
  return {
    write: (value, place) => JSON.parse(writer.text(value, place)),
    read: readValue,
    sharesKey: options.key !== undefined,
  };
}
