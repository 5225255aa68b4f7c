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

/** To find the nearest recorded call: the most payloads whose ends are compared as texts, and the letters of each end. */
const MOST_GLANCED_AT = 10_000;
const GLANCED_LETTERS = 2_000;
/** The most of those that are then compared member by member. */
const MOST_LOOKED_AT = 100;
/** Longest payloads that are compared to find the nearest one, in bytes. */
const MOST_BYTES = 1_000_000;

/** Recorded calls of the same payload. */
interface Equal {
  readonly messages: readonly RecordedMessage[];
  /** Those that have not answered, in their order. */
  readonly left: Set<RecordedMessage>;
}

interface Shelf {
  readonly messages: readonly RecordedMessage[];
  /** By the payload as text. */
  readonly byText: ReadonlyMap<string, Equal>;
  /** Those that have not answered, in their order. */
  readonly left: Set<RecordedMessage>;
}

/** How calls find their answers. */
export interface LibraryOptions {
  readonly match: Match;
  readonly sharesKey: boolean;
  /** True when it is known which message from outside led to a call. */
  readonly followsOrigins: boolean;
  /** True to give the last answer again to further equal calls. */
  readonly repeats: boolean;
}

/** A call that was answered by what belongs to another message from outside, which made that call, too. */
export interface ExtraCall {
  readonly call: Call;
  readonly origin: RecordedMessage | undefined;
}

/** The recorded calls of the world, each of which answers once. */
export class Library {
  readonly #shelves = new Map<string, Shelf>();
  readonly #options: LibraryOptions;
  readonly #sharesKey: boolean;
  /** The recorded calls that have answered one of another origin, and stay for that of their own. */
  readonly #lent = new Map<RecordedMessage, ExtraCall>();

  constructor(messages: readonly RecordedMessage[], options: LibraryOptions) {
    this.#options = options;
    this.#sharesKey = options.sharesKey;
    for (const [key, group] of Map.groupBy(messages, ({ line }) => keyOf(worldOf(line), line))) {
      const byText = new Map<string, Equal>();
      for (const [text, equal] of Map.groupBy(group, ({ line }) => textOf(line.payload))) {
        byText.set(text, { messages: equal, left: new Set(equal) });
      }
      this.#shelves.set(key, { messages: group, byText, left: new Set(group) });
    }
  }

  /**
   * Takes the recorded call that answers this one. Undefined when there is none.
   *
   * @param origin the message from outside that led to the call. One of the same origin is preferred: the calls that others make stay as
   * they were. An answer that belongs to another origin is lent, and stays there for the call that it belongs to.
   */
  take(call: Call, origin: RecordedMessage | undefined): RecordedMessage | undefined {
    const shelf = this.#shelves.get(keyOf(call.world, call));
    if (shelf === undefined) return undefined;
    const { match, repeats } = this.#options;
    const found = match === "order" ? firstOf(shelf.left) : this.#find(shelf, call, origin);
    if (found === undefined) return repeats ? this.#lastOf(shelf, call.payload) : undefined;
    if (this.#lent.get(found)?.call === call) return found;
    shelf.left.delete(found);
    shelf.byText.get(textOf(found.line.payload))?.left.delete(found);
    return found;
  }

  /** The calls that were made beyond those that were recorded, and got an answer that belongs to others. */
  get extra(): ExtraCall[] {
    return [...this.#lent].filter(([message]) => !this.#isLeft(message)).map(([, call]) => call);
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

  /** The names of the actors outside that were called when it was recorded. */
  get worlds(): string[] {
    const lines = [...this.#shelves.values()].flatMap(({ messages }) => messages.slice(0, 1)).map(({ line }) => line);
    return [...new Set(lines.map(worldOf))];
  }

  /**
   * The recorded call of the same operation whose payload differs least, whether it has answered or not; of equally near ones, one that has
   * not. Undefined when the operation has none.
   */
  nearest(call: Call): { readonly message: RecordedMessage; readonly differences: readonly Difference[] } | undefined {
    const shelf = this.#shelves.get(keyOf(call.world, call));
    if (shelf === undefined) return undefined;
    const text = textOf(call.payload);
    const glanced = Array.from(shelf.byText.entries().take(MOST_GLANCED_AT), ([each, equal]) => ({
      equal,
      apart: distance(each, text, GLANCED_LETTERS),
    }));
    const isLarge = sizeOf(call.payload) > MOST_BYTES;
    const [nearest] = glanced
      .sort((a, b) => a.apart - b.apart)
      .slice(0, MOST_LOOKED_AT)
      .flatMap(({ equal: { messages, left } }) => {
        const [message] = messages;
        if (message === undefined) return [];
        const { differences } = compareValues(message.line.payload, call.payload, "payload", [], this.#sharesKey);
        const weight = isLarge ? differences.length : weightOf(differences);
        return [{ message, differences, weight, isUsedUp: left.size === 0 }];
      })
      .sort((a, b) => a.weight - b.weight || Number(a.isUsedUp) - Number(b.isUsedUp));
    return nearest;
  }

  /** The recorded calls that have not answered, in their order. */
  get left(): RecordedMessage[] {
    const left = [...this.#shelves.values()].flatMap((shelf) => [...shelf.left]);
    return left.filter((message) => !this.#lent.has(message)).sort((a, b) => a.index - b.index);
  }

  #isLeft(message: RecordedMessage): boolean {
    return this.#shelves.get(keyOf(worldOf(message.line), message.line))?.left.has(message) === true;
  }

  #find(shelf: Shelf, call: Call, origin: RecordedMessage | undefined): RecordedMessage | undefined {
    const exact = shelf.byText.get(textOf(call.payload))?.left;
    if (exact !== undefined && exact.size > 0) return this.#preferred(exact, call, origin);
    return this.#preferred(this.#same(shelf.left, call.payload), call, origin);
  }

  *#same(messages: Iterable<RecordedMessage>, payload: unknown): Generator<RecordedMessage> {
    for (const message of messages) if (areSame(message.line.payload, payload, this.#sharesKey)) yield message;
  }

  /** The last recorded call of the same payload. */
  #lastOf(shelf: Shelf, payload: unknown): RecordedMessage | undefined {
    return shelf.byText.get(textOf(payload))?.messages.at(-1) ?? [...this.#same(shelf.messages, payload)].at(-1);
  }

  /** The first call of the same origin; or the first whose origin is not known; or the first of another one, which is lent. */
  #preferred(
    equal: Iterable<RecordedMessage>,
    call: Call,
    origin: RecordedMessage | undefined,
  ): RecordedMessage | undefined {
    let free: RecordedMessage | undefined;
    let others: RecordedMessage | undefined;
    for (const message of equal) {
      if (!this.#options.followsOrigins || message.origin === origin) return message;
      if (message.origin === undefined || origin === undefined) free ??= message;
      else if (!this.#lent.has(message)) others ??= message;
    }
    if (free === undefined && others !== undefined) this.#lent.set(others, { call, origin });
    return free ?? others;
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

/** Between 0, for texts that begin and end the same, and 1. @param most the letters of each end that are compared. */
function distance(a: unknown, b: unknown, most = Number.POSITIVE_INFINITY): number {
  if (a === b) return 0;
  if (typeof a !== "string" || typeof b !== "string") return 1;
  const longest = Math.max(a.length, b.length);
  const shortest = Math.min(a.length, b.length);
  let before = 0;
  while (before < Math.min(shortest, most) && a[before] === b[before]) before++;
  let after = 0;
  while (after < Math.min(shortest - before, most) && a[a.length - 1 - after] === b[b.length - 1 - after]) after++;
  return 1 - (before + after) / longest;
}
