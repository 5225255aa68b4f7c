import type { Pattern } from "../../index";
import type { MessageLine } from "../format";
import { areSame, compareValues, type Difference } from "./compare";
import { sizeOf } from "./json";
import type { RecordedMessage } from "./tape";

/** How calls of the world find their recorded answers. */
export type Match = "content" | "order";

/** A call of the world, in the form of the file. */
export interface Call {
  /** The name of the world's part. */
  readonly world: string;
  readonly pattern: Pattern;
  readonly operation: string;
  readonly payload: unknown;
}

/** Most recorded calls that are looked at to find the nearest one. */
const MOST_LOOKED_AT = 500;
/** Longest payloads that are compared to find the nearest one, in bytes. */
const MOST_BYTES = 1_000_000;

interface Shelf {
  readonly messages: readonly RecordedMessage[];
  /** Those that have not answered, by their payload as text. */
  readonly byText: Map<string, RecordedMessage[]>;
  readonly left: Set<RecordedMessage>;
}

/** The recorded calls of the world, each of which answers once. */
export class Library {
  readonly #shelves = new Map<string, Shelf>();
  readonly #match: Match;
  readonly #sharesKey: boolean;

  constructor(messages: readonly RecordedMessage[], match: Match, sharesKey: boolean) {
    this.#match = match;
    this.#sharesKey = sharesKey;
    for (const [key, group] of Map.groupBy(messages, ({ line }) => keyOf(worldOf(line), line))) {
      const byText = Map.groupBy(group, ({ line }) => textOf(line.payload));
      this.#shelves.set(key, { messages: group, byText, left: new Set(group) });
    }
  }

  /** Takes the recorded call that answers this one. Undefined when there is none. */
  take(call: Call): RecordedMessage | undefined {
    const shelf = this.#shelves.get(keyOf(call.world, call));
    const found = shelf && (this.#match === "order" ? firstOf(shelf.left) : this.#find(shelf, call.payload));
    if (found !== undefined) shelf?.left.delete(found);
    return found;
  }

  /** The recorded calls of the same operation that have answered, and all of them. */
  countOf(call: Call): { readonly used: number; readonly all: number } {
    const shelf = this.#shelves.get(keyOf(call.world, call));
    return { used: (shelf?.messages.length ?? 0) - (shelf?.left.size ?? 0), all: shelf?.messages.length ?? 0 };
  }

  /** The operations that were recorded of a part of the world. */
  operationsOf(world: string): string[] {
    const lines = [...this.#shelves.values()].flatMap(({ messages }) => messages.slice(0, 1)).map(({ line }) => line);
    return lines.filter((line) => worldOf(line) === world).map(({ operation, pattern }) => `${pattern} ${operation}`);
  }

  /** The recorded calls of the same payload, whether they have answered or not. */
  equalTo(call: Call): readonly RecordedMessage[] {
    return this.#shelves.get(keyOf(call.world, call))?.byText.get(textOf(call.payload)) ?? [];
  }

  /** The names of the actors outside that were called when it was recorded. */
  get worlds(): string[] {
    const lines = [...this.#shelves.values()].flatMap(({ messages }) => messages.slice(0, 1)).map(({ line }) => line);
    return [...new Set(lines.map(worldOf))];
  }

  /** The recorded call that differs least, one that has not answered if there is one. Undefined when the operation has none. */
  nearest(call: Call): { readonly message: RecordedMessage; readonly differences: readonly Difference[] } | undefined {
    const shelf = this.#shelves.get(keyOf(call.world, call));
    if (shelf === undefined) return undefined;
    const candidates = shelf.left.size > 0 ? shelf.left : shelf.messages;
    let best: { readonly message: RecordedMessage; readonly differences: readonly Difference[] } | undefined;
    let least = Number.POSITIVE_INFINITY;
    let looked = 0;
    const isLarge = sizeOf(call.payload) > MOST_BYTES;
    for (const message of candidates) {
      if (looked++ === MOST_LOOKED_AT) break;
      const { payload } = message.line;
      const { differences } = compareValues(payload, call.payload, "payload", [], this.#sharesKey);
      const weight = isLarge ? differences.length : weightOf(differences);
      if (weight >= least) continue;
      least = weight;
      best = { message, differences };
    }
    return best;
  }

  /** The recorded calls that have not answered, in their order. */
  get left(): RecordedMessage[] {
    const left = [...this.#shelves.values()].flatMap((shelf) => [...shelf.left]);
    return left.sort((a, b) => a.index - b.index);
  }

  #find(shelf: Shelf, payload: unknown): RecordedMessage | undefined {
    const exact = shelf.byText.get(textOf(payload))?.find((message) => shelf.left.has(message));
    if (exact !== undefined) return exact;
    for (const message of shelf.left) if (areSame(message.line.payload, payload, this.#sharesKey)) return message;
    return undefined;
  }
}

/** The name of the part of the world that answered a message; where none was written, that of its address. */
export const worldOf = ({ outside, to }: MessageLine): string => outside ?? to.replace(/^@\((.*)\)$/s, "$1");

const keyOf = (world: string, { pattern, operation }: { pattern: Pattern; operation: string }): string =>
  JSON.stringify([world, pattern, operation]);

const textOf = (payload: unknown): string => JSON.stringify(payload) ?? "";

const firstOf = <Item>(items: Iterable<Item>): Item | undefined => {
  for (const item of items) return item;
  return undefined;
};

/** How much differs: first how many values, then how long they are. */
const weightOf = (differences: readonly Difference[]): number =>
  differences.reduce((sum, { recorded, replayed }) => sum + 1 + distance(recorded, replayed), 0);

/** Between 0, for texts that begin and end the same, and 1. */
function distance(a: unknown, b: unknown): number {
  if (typeof a !== "string" || typeof b !== "string") return 1;
  const longest = Math.max(a.length, b.length);
  const shortest = Math.min(a.length, b.length);
  let before = 0;
  while (before < shortest && a[before] === b[before]) before++;
  let after = 0;
  while (after < shortest - before && a[a.length - 1 - after] === b[b.length - 1 - after]) after++;
  return 1 - (before + after) / longest;
}
