import { type Pattern, PatternError, type Place, type Syntax } from "./syntax";

/** The kinds of steps in a program. */
export const Step = { letter: 0, either: 1, place: 2, match: 3 } as const;

const PLACES: readonly Place[] = ["start", "end", "word", "inside"];
export const placeAt = (index: number): Place | undefined => PLACES[index];

/** Most steps of a program. Each letter of a text costs at most as many. */
const MOST_STEPS = 2_000;

/**
 * A pattern as steps (K. Thompson, "Regular Expression Search Algorithm", 1968). `first` is the next step, and `second`
 * is the alternative of an `either`. `what` is the number of a letter or of a place.
 */
export class Program {
  readonly steps: number[] = [];
  readonly what: number[] = [];
  readonly first: number[] = [];
  readonly second: number[] = [];
  /** The letters, as native regular expressions for one letter, which are fast. */
  readonly letters: RegExp[] = [];
  readonly start: number;
  readonly isWord: RegExp;
  readonly #letterIndex = new Map<string, number>();
  readonly #flags: string;
  #made = 0;

  /** @throws PatternError for too many steps. */
  constructor({ syntax, ignoreCase }: Pattern) {
    this.#flags = ignoreCase ? "iu" : "u";
    this.isWord = new RegExp("\\w", this.#flags);
    this.start = this.#make(syntax, this.#add(Step.match, 0, 0, 0));
  }

  /** Makes the steps of a part that goes on at `next`. Returns the first of them. */
  #make(part: Syntax, next: number): number {
    // Parts without letters make no steps, but take time.
    if (++this.#made > MOST_STEPS * 2) throw new PatternError("it is too complex; write smaller counts", 1);
    switch (part.kind) {
      case "letter":
        return this.#add(Step.letter, this.#letter(part.source), next, 0);
      case "place":
        return this.#add(Step.place, PLACES.indexOf(part.place), next, 0);
      case "sequence":
        return part.parts.reduceRight((after, each) => this.#make(each, after), next);
      case "choice":
        return part.parts
          .map((each) => this.#make(each, next))
          .reduceRight((second, first) => this.#add(Step.either, 0, first, second));
      case "repeat":
        return this.#repeat(part.part, part.least, part.most, next);
    }
  }

  #repeat(part: Syntax, least: number, most: number, next: number): number {
    let at = next;
    if (most === Number.POSITIVE_INFINITY) {
      at = this.#add(Step.either, 0, 0, next);
      this.first[at] = this.#make(part, at);
    } else {
      for (let i = least; i < most; i++) at = this.#add(Step.either, 0, this.#make(part, at), next);
    }
    for (let i = 0; i < least; i++) at = this.#make(part, at);
    return at;
  }

  #add(step: number, what: number, first: number, second: number): number {
    if (this.steps.length === MOST_STEPS) throw new PatternError("it is too complex; write smaller counts", 1);
    this.what.push(what);
    this.first.push(first);
    this.second.push(second);
    return this.steps.push(step) - 1;
  }

  #letter(source: string): number {
    const known = this.#letterIndex.get(source);
    if (known !== undefined) return known;
    const index = this.letters.push(new RegExp(source, this.#flags)) - 1;
    this.#letterIndex.set(source, index);
    return index;
  }
}

/** The sort of a line end. */
export const END = 0;

/** Groups letters into sorts. A program treats all letters of one sort alike. */
export class Sorts {
  readonly #program: Program;
  readonly #byKey = new Map<string, number>();
  readonly #keys: string[] = ["end"];
  readonly #areWords: boolean[] = [false];
  /** The sorts of one-byte letters. −1 if unknown, and for \r, which may belong to a line end. */
  readonly ascii = new Int32Array(256).fill(-1);
  #sortOfReturn = -1;
  readonly #others = new Map<number, number>();

  constructor(program: Program) {
    this.#program = program;
    this.ascii[LF] = END;
  }

  isWord(sort: number): boolean {
    return this.#areWords[sort] === true;
  }

  has(sort: number, letter: number): boolean {
    return sort !== END && this.#keys[sort]?.charCodeAt(letter) === ONE;
  }

  /** The known sort of a letter, or −1. */
  known(code: number): number {
    if (code === CR) return this.#sortOfReturn;
    return code < 128 ? (this.ascii[code] ?? -1) : (this.#others.get(code) ?? -1);
  }

  /** Computes the sort of a letter. */
  look(code: number): number {
    const letter = String.fromCodePoint(code);
    const isWord = this.#program.isWord.test(letter);
    const key = `${this.#program.letters.map((each) => (each.test(letter) ? "1" : "0")).join("")}${isWord ? "w" : ""}`;
    let sort = this.#byKey.get(key);
    if (sort === undefined) {
      sort = this.#keys.push(key) - 1;
      this.#areWords.push(isWord);
      this.#byKey.set(key, sort);
    }
    if (code === CR) this.#sortOfReturn = sort;
    else if (code < 128) this.ascii[code] = sort;
    else {
      if (this.#others.size === MOST_OTHERS) this.#others.clear();
      this.#others.set(code, sort);
    }
    return sort;
  }
}

const LF = 10;
const CR = 13;
const ONE = 49;
const MOST_OTHERS = 20_000;

/** The code of the UTF-8 letter at `at`. The bits above it hold its length in bytes. */
export function decodeAt(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return first | (1 << 24);
  const second = (bytes[at + 1] ?? 0) & 0x3f;
  if (first < 0xe0) return ((first & 0x1f) << 6) | second | (2 << 24);
  const third = (bytes[at + 2] ?? 0) & 0x3f;
  if (first < 0xf0) return ((first & 0x0f) << 12) | (second << 6) | third | (3 << 24);
  return ((first & 0x07) << 18) | (second << 12) | (third << 6) | ((bytes[at + 3] ?? 0) & 0x3f) | (4 << 24);
}
