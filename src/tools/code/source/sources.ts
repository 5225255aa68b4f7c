import { CodeRefusal } from "../code-refusal";
import type { Language } from "../language";
import type { Program } from "../tier";
import { compile } from "./compile";
import type { Outcome, Purpose } from "./errand";
import { loadParser, type Parse } from "./parser";
import { Reader, type ReaderOptions } from "./reader";
import { SourceProgram } from "./source-program";

/** Longest source, in UTF-16 code units. At this length, the hardest JavaScript known takes 130 ms, TypeScript 300 ms. */
export const LONGEST_SOURCE = 64 * 1024;
/** Longest source that is read on this thread. The hardest one known takes two or three milliseconds. */
const AT_ONCE: Readonly<Record<Language, number>> = { javascript: 2_048, typescript: 512 };
/** Longest source that does not wait for longer ones: they have another thread. */
const SHORT = 8 * 1024;
/** Most sources in a generation of the cache, and their greatest total length. */
const KEPT = 256;
const KEPT_LENGTH = 4 * 1024 * 1024;

type Compiled = Program | CodeRefusal;
type Kind = `${Language} of a ${Purpose}`;

/** The options by which a source is read. */
export interface CompileOptions {
  /** True keeps its top-level declarations for later runs. Default: false. */
  readonly isSession?: boolean;
  /** True when it makes a behaviour: a function that is all of the code is returned, not called. Default: false. */
  readonly isBehaviour?: boolean;
}

/**
 * Compiles sources, and keeps the most recent programs in two generations. A source found in the older generation moves
 * to the younger one. A hit in the younger one costs nothing more (a list in the order of use costs 60 ns).
 */
export class Sources {
  readonly #parsers: Partial<Record<Language, Parse>> = {};
  #young: Generation = newGeneration();
  #old: Generation = newGeneration();
  /** The sources that are being read. */
  readonly #underWay: Readonly<Record<Kind, Map<string, Promise<Compiled>>>> = newMaps();
  readonly #short: Reader;
  readonly #long: Reader;

  constructor(options: ReaderOptions = {}) {
    this.#short = new Reader(options);
    this.#long = new Reader(options);
  }

  /**
   * The program of a source, or its refusal. A promise if the parser has to be loaded first, or if the source is so long
   * that it is read on another thread.
   */
  compile(code: string, language: Language, options: CompileOptions = {}): Compiled | Promise<Compiled> {
    const purpose = options.isSession === true ? "session" : options.isBehaviour === true ? "behaviour" : "run";
    const kind: Kind = `${language} of a ${purpose}`;
    // Checked before the lookup, which reads all of the source: 0.3 s for 300 MB.
    if (code.length > LONGEST_SOURCE) {
      return new CodeRefusal(
        "compile-error",
        `The code has ${code.length} characters, and ${LONGEST_SOURCE} are the most; hand data over as input.`,
      );
    }
    const known = this.#young[kind].get(code);
    if (known !== undefined) return known;
    const old = this.#old[kind].get(code);
    if (old !== undefined) return this.#keep(code, kind, old);
    const parse = this.#parsers[language];
    if (parse !== undefined && code.length <= AT_ONCE[language]) {
      return this.#keep(code, kind, programOf(code, compile(parse, code, purpose)));
    }
    const underWay = this.#underWay[kind];
    let reading = underWay.get(code);
    if (reading === undefined) {
      reading = this.#read(code, language, purpose, kind).finally(() => underWay.delete(code));
      underWay.set(code, reading);
    }
    return reading;
  }

  /** Ends all sources that are being read as `stopped`. No thread is left when it resolves. */
  async dispose(): Promise<void> {
    await Promise.all([this.#short.dispose(), this.#long.dispose()]);
  }

  async #read(code: string, language: Language, purpose: Purpose, kind: Kind): Promise<Compiled> {
    if (code.length > AT_ONCE[language]) {
      const reader = code.length > SHORT ? this.#long : this.#short;
      const outcome = await reader.read({ code, language, purpose });
      const program = programOf(code, outcome);
      return program instanceof CodeRefusal && program.error.kind !== "compile-error"
        ? program // It may succeed another time.
        : this.#keep(code, kind, program);
    }
    try {
      const parse = await loadParser(language);
      this.#parsers[language] = parse;
      return this.#keep(code, kind, programOf(code, compile(parse, code, purpose)));
    } catch (error) {
      if (error instanceof CodeRefusal) return error;
      throw error;
    }
  }

  #keep(code: string, kind: Kind, program: Compiled): Compiled {
    this.#young[kind].set(code, program);
    this.#young.length += code.length;
    this.#young.count++;
    if (this.#young.count >= KEPT || this.#young.length > KEPT_LENGTH) {
      this.#old = this.#young;
      this.#young = newGeneration();
    }
    return program;
  }
}

const programOf = (code: string, outcome: Outcome): Compiled =>
  outcome instanceof CodeRefusal ? outcome : new SourceProgram(code, outcome);

interface Generation extends Readonly<Record<Kind, Map<string, Compiled>>> {
  length: number;
  count: number;
}

const newGeneration = (): Generation => ({ ...newMaps<Compiled>(), length: 0, count: 0 });

const newMaps = <Value>(): Record<Kind, Map<string, Value>> => ({
  "javascript of a run": new Map(),
  "typescript of a run": new Map(),
  "javascript of a behaviour": new Map(),
  "typescript of a behaviour": new Map(),
  "javascript of a session": new Map(),
  "typescript of a session": new Map(),
});
