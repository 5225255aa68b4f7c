// No other regular expression engine is used here (measured on Bun 1.4.5, three times each, on 10 MB). Bun's own holds
// the loop for 2 s over 27 letters (`(a+)+$|b`). It then gives up and reports no match where there is one. re2js 2.10
// is linear, but cannot pause: `(a+)+$` holds the loop for 1.2 to 3.1 s on one line, here 50 to 110 ms in parts. Source
// code (`[a-z]+Error\b`) takes it 440 to 550 ms, here 140 to 260, Bun's own 230 to 350. re2-wasm 1.0 takes 2 s, and
// ends the process on a line of 10 MB. `bun test test/tools/files/search -t "hangs nothing"` shows the bound.
import type { Effort, Steps } from "../steps";
import { decodeAt, END, type Program, placeAt, Sorts, Step } from "./program";

const LF = 10;
const CR = 13;
/** Bytes between two looks at the effort. */
const PART = 16 * 1024;
/** The cost of a step whose result is not known yet, in bytes searched. */
const STEP = 64;
/** Most transitions kept, and most steps kept in states: some megabytes of each. */
const MOST_KEPT = 1024 * 1024;
/** The initial room for sorts of letters. */
const FIRST_WIDTH = 4;

const AtStart = 0;
const AfterWord = 1;
const AfterOther = 2;
/** The number of idle states, which have only the first step: one for each kind of letter before. */
const IDLE = 3;

/** Special transitions: not computed yet, and to the end of a match. The rest of the line is not looked at then. */
const UNKNOWN = 0;
const FOUND = -1;

/** The steps that a program may have reached. The first step always belongs to them and is left out. */
interface State {
  readonly steps: readonly number[];
  readonly before: number;
}

/**
 * Finds the lines in which a program matches. The time grows linearly with the text and with the program: the automaton
 * follows all possible steps at once. Each set of steps seen so far is a state with known transitions (R. Cox, "Regular
 * Expression Matching Can Be Simple And Fast", 2007).
 */
export class Automaton {
  readonly #program: Program;
  readonly #sorts: Sorts;
  readonly #seen: Uint32Array;
  readonly #reached: Uint32Array;
  readonly #most: number;
  #turn = 0;
  /** The row of each state: where its transitions begin in `#ways`, one for each sort of letter. */
  readonly #rows = new Map<string, number>();
  readonly #states: State[] = [];
  #ways = new Int32Array(1024);
  #width = FIRST_WIDTH;
  #kept = 0;
  // The position in the text. Kept in fields, because a generator with local variables takes three times as long for
  // each byte.
  #row = 0;
  #at = 0;
  #line = 0;
  /** The last place with an idle state, and that state. No match can have begun earlier. */
  #idleAt = 0;
  #idleRow = 0;
  #isDue = false;

  /** @param most steps and transitions kept. With more, all are forgotten. */
  constructor(program: Program, most: number = MOST_KEPT) {
    this.#program = program;
    this.#most = most;
    this.#sorts = new Sorts(program);
    this.#seen = new Uint32Array(program.steps.length);
    this.#reached = new Uint32Array(program.steps.length);
    this.#clear();
  }

  /**
   * Finds the first matching line between `start` and `end`, where `start` is the start of a line. Gives the line's
   * start, or −1.
   */
  *find(bytes: Uint8Array, start: number, end: number, effort: Effort): Steps<number> {
    this.#at = start;
    this.#line = start;
    this.#row = this.#width; // The row of the first state.
    this.#idleAt = start;
    this.#idleRow = this.#row;
    while (this.#at < end) {
      const from = this.#at;
      this.#isDue = false;
      if (this.#look(bytes, Math.min(end, from + PART), effort)) return this.#line;
      if (effort.spend(this.#at - from) || this.#isDue) yield;
    }
    return this.#line < end && this.#follow(this.#row, END) === FOUND ? this.#line : -1;
  }

  /** Reads bytes up to `end`, or until a pause is due. Returns true at the end of a match. */
  #look(bytes: Uint8Array, end: number, effort: Effort): boolean {
    const { ascii } = this.#sorts;
    let ways = this.#ways;
    let lastIdle = this.#width * IDLE;
    let row = this.#row;
    let at = this.#at;
    while (at < end && !this.#isDue) {
      const sort = ascii[bytes[at] ?? 0] ?? -1;
      const next = sort < 0 ? UNKNOWN : (ways[row + sort] ?? UNKNOWN);
      if (next > 0) {
        at++;
        row = next;
        if (next > lastIdle) continue;
        this.#idleAt = at;
        this.#idleRow = next;
        if (sort === END) this.#line = at;
        continue;
      }
      if (next === FOUND) return true;
      this.#row = row;
      this.#at = at;
      if (this.#step(bytes, effort)) return true;
      ways = this.#ways;
      lastIdle = this.#width * IDLE;
      row = this.#row;
      at = this.#at;
    }
    this.#row = row;
    this.#at = at;
    return false;
  }

  /** Reads one letter that is not in the fast table, or whose transition is unknown. Returns true at the end of a match. */
  #step(bytes: Uint8Array, effort: Effort): boolean {
    const at = this.#at;
    const isEnd = bytes[at] === CR && bytes[at + 1] === LF;
    const code = decodeAt(bytes, at);
    let sort = isEnd || bytes[at] === LF ? END : this.#sorts.known(code & 0xffffff);
    if (sort < 0) {
      sort = this.#sorts.look(code & 0xffffff);
      this.#isDue = effort.spend(this.#program.letters.length * STEP);
      if (sort >= this.#width) this.#widen();
    }
    const next = this.#ways[this.#row + sort] || this.#follow(this.#row, sort, effort);
    if (next === FOUND) return true;
    this.#row = next;
    this.#at = at + (isEnd ? 2 : code >>> 24);
    if (next <= this.#width * IDLE) {
      this.#idleAt = this.#at;
      this.#idleRow = next;
    }
    if (sort === END) this.#line = this.#at;
    return false;
  }

  /** Computes the transition of a state for a sort of letter. */
  #follow(row: number, sort: number, effort?: Effort): number {
    const { steps, before } = this.#states[row / this.#width] ?? NOWHERE;
    this.#turn++;
    const reached: number[] = [];
    const give = (step: number): void => void reached.push(step);
    for (let i = 0; i <= steps.length; i++) {
      if (!this.#spread(steps[i] ?? this.#program.start, before, sort, give)) continue;
      this.#ways[row + sort] = FOUND;
      return FOUND;
    }
    reached.sort((a, b) => a - b);
    if (effort?.spend((steps.length + reached.length + 8) * STEP) === true) this.#isDue = true;
    const after = sort === END ? AtStart : this.#sorts.isWord(sort) ? AfterWord : AfterOther;
    const { row: next, isKept } = this.#rowOf(reached, after);
    if (isKept) this.#ways[row + sort] = next;
    return next;
  }

  /** The row of a state. `isKept` is false if the other states were forgotten. */
  #rowOf(steps: readonly number[], before: number): { readonly row: number; readonly isKept: boolean } {
    const key = `${before}:${steps.join()}`;
    const known = this.#rows.get(key);
    if (known !== undefined) return { row: known, isKept: true };
    const isFull = Math.max(this.#kept, this.#states.length * this.#width) > this.#most;
    if (isFull) this.#clear();
    return { row: this.#add(key, { steps, before }), isKept: !isFull };
  }

  #add(key: string, state: State): number {
    const row = this.#states.push(state) * this.#width - this.#width;
    this.#rows.set(key, row);
    this.#kept += state.steps.length + 16;
    if (row + this.#width > this.#ways.length) {
      const more = new Int32Array(this.#ways.length * 2);
      more.set(this.#ways);
      this.#ways = more;
    }
    return row;
  }

  /** Forgets all states but the idle ones, which come first. No state has row 0, which means an unknown transition. */
  #clear(): void {
    this.#rows.clear();
    this.#states.length = 0;
    this.#states.push(NOWHERE);
    this.#kept = 0;
    this.#ways = new Int32Array(64 * this.#width);
    for (let before = AtStart; before < IDLE; before++) this.#add(`${before}:`, { steps: [], before });
  }

  /** Makes room for more sorts of letters during a look. */
  #widen(): void {
    const { steps, before } = this.#states[this.#row / this.#width] ?? NOWHERE;
    this.#width *= 2;
    this.#idleRow *= 2;
    this.#clear();
    this.#row = this.#rowOf(steps, before).row;
  }

  /**
   * Follows the steps that need no letter. Gives each step reached by the next letter once. Returns true if the match
   * ends here.
   */
  #spread(from: number, before: number, sort: number, give: (step: number) => void): boolean {
    const { steps, what, first, second } = this.#program;
    const turn = this.#turn;
    const stack = [from];
    for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
      if (this.#seen[at] === turn) continue;
      this.#seen[at] = turn;
      const step = steps[at];
      const next = first[at] ?? 0;
      if (step === Step.match) return true;
      if (step === Step.either) stack.push(second[at] ?? 0, next);
      else if (step === Step.place) {
        if (this.#isAt(what[at] ?? 0, before, sort)) stack.push(next);
      } else if (this.#sorts.has(sort, what[at] ?? 0) && this.#reached[next] !== turn) {
        this.#reached[next] = turn;
        give(next);
      }
    }
    return false;
  }

  #isAt(place: number, before: number, sort: number): boolean {
    switch (placeAt(place)) {
      case "start":
        return before === AtStart;
      case "end":
        return sort === END;
      case "word":
        return (before === AfterWord) !== this.#sorts.isWord(sort);
      default:
        return (before === AfterWord) === this.#sorts.isWord(sort);
    }
  }

  /** Gives the start of the first match in the line last found, which ends at `end`. */
  *start(bytes: Uint8Array, end: number, effort: Effort): Steps<number> {
    let found = -1;
    let before = this.#idleRow / this.#width - 1;
    // Steps with the start of their match. The earliest starts come first, so that they are kept.
    let steps: number[] = [];
    let starts: number[] = [];
    for (let at = this.#idleAt; ; ) {
      const code = at < end ? decodeAt(bytes, at) : 0;
      const letter = code & 0xffffff;
      const known = at < end ? this.#sorts.known(letter) : END;
      const sort = known < 0 ? this.#sorts.look(letter) : known;
      this.#turn++;
      const nextSteps: number[] = [];
      const nextStarts: number[] = [];
      if (found < 0) {
        steps.push(this.#program.start);
        starts.push(at);
      }
      for (let i = 0; i < steps.length; i++) {
        const began = starts[i] ?? 0;
        const give = (step: number): void => {
          nextSteps.push(step);
          nextStarts.push(began);
        };
        if (!this.#spread(steps[i] ?? 0, before, sort, give)) continue;
        found = began;
        break; // The other steps began later.
      }
      if (effort.spend((steps.length + 4) * STEP)) yield;
      if (at >= end || (found >= 0 && nextSteps.length === 0)) return found;
      before = this.#sorts.isWord(sort) ? AfterWord : AfterOther;
      steps = nextSteps;
      starts = nextStarts;
      at += code >>> 24;
    }
  }
}

const NOWHERE: State = { steps: [], before: AtStart };
