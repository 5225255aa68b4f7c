import type { HeaderLine } from "../format";
import type { Part } from "../transforms/paths";
import { type Place, redact, type Transform, type TransformScope } from "../transforms/transform";
import { readValue } from "../values/read-value";
import { ValueWriter, type ValueWriterOptions } from "../values/value-writer";
import type { Tape } from "./tape";

/** Brings values into the form of a recording and back. */
export interface Codec {
  /** Gives a value as it would stand in the file, after the same transforms. Never throws. */
  write(value: unknown, place: Place): unknown;
  /** Gives the value that stands in the file; one that is written by its size and hash stays opaque. */
  read(written: unknown): unknown;
  /** True when texts are redacted by the key of the recording, so that equal texts have equal hashes. */
  readonly sharesKey: boolean;
}

/**
 * The codec of values that were written with these options. What a transform of the recording hides is redacted even where the options lack
 * that transform: a report and the log of a test may be read by more people than the data.
 *
 * @throws TypeError when the options have another key than the recording: each redacted value would look like another one.
 */
export function codecOf(options: ValueWriterOptions, { name, header }: Pick<Tape, "name" | "header">): Codec {
  const { transforms = [] } = options;
  const writer = new ValueWriter({
    ...options,
    transforms: [...transforms, ...lackedBy(options, header).flatMap(hidden)],
  });
  if (options.key !== undefined && header.key !== undefined && header.key !== writer.keyId) {
    throw new TypeError(
      `The key is not the one that ${name} was recorded with: its hashes cannot be compared. Give that key, or leave key out, and what is redacted is not compared.`,
    );
  }
  return {
    write: (value, place) => JSON.parse(writer.text(value, place)),
    read: readValue,
    sharesKey: options.key !== undefined,
  };
}

/** The transforms of a recording that options lack. */
export function lackedBy({ transforms = [] }: ValueWriterOptions, header: Pick<HeaderLine, "transforms">): string[] {
  const given = new Set(transforms.map(String));
  return header.transforms?.filter((each) => !given.has(each)) ?? [];
}

/** Redacts what a transform changes, by its text. Where the text can be read in several ways, each of them counts. */
function hidden(transform: string): Transform[] {
  const text = /^[a-z]+ (.+)$/.exec(transform)?.[1] ?? "";
  // A path may have an " of " itself, as the text has before a scope.
  const readings = [...text.matchAll(/ of /g)].flatMap(({ index }) =>
    scopesOf(text.slice(index + 4)).map((scope) => [text.slice(0, index), scope] as const),
  );
  return [[text, {}] as const, ...readings].flatMap(([path, scope]) => {
    try {
      return [redact(path, scope)];
    } catch {
      return []; // It is not to be read so.
    }
  });
}

/** The scopes that a text may stand for: any of the actor, the operation and the part, in this order. */
function scopesOf(text: string): TransformScope[] {
  const words = text.split(" ");
  const [first, second] = words as [string, string]; // Two, where there are two.
  if (words.length === 1) return [{ actor: first }, { operation: first }, { part: first as Part }];
  if (words.length > 2) return [{}];
  return [
    { actor: first, operation: second },
    { actor: first, part: second as Part },
    { operation: first, part: second as Part }, // One that is no part is refused.
  ];
}
