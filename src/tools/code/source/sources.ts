import { CodeRefusal } from "../code-error";
import type { Program } from "../tier";
import { type Language, loadParser, OFFSET, type Parse } from "./parser";
import { weave } from "./text";
import { returnLast } from "./value";

/**
 * Longest source, in UTF-16 code units. Nothing else runs while one is read: of this length, and made to take long,
 * up to 130 ms in JavaScript and 300 ms in TypeScript here.
 */
export const LONGEST_SOURCE = 64 * 1024;
/** How many sources a generation of the cache has, and how long they are together. */
const KEPT = 256;
const KEPT_LENGTH = 4 * 1024 * 1024;

/** Reads a source, and makes a program of it that gives its value. Nothing of it runs. */
function compile(parse: Parse, code: string): Program | CodeRefusal {
  try {
    const { text, statements } = parse(code);
    const { insertions, ending } = returnLast(text, statements, OFFSET);
    return weave(text, insertions, ending);
  } catch (error) {
    if (error instanceof CodeRefusal) return error;
    if (error instanceof RangeError) {
      return new CodeRefusal("compile-error", "The code is nested too deeply; write it in flatter parts.");
    }
    throw error;
  }
}

/**
 * Sources and the programs that they are, the last ones of them kept. What is found in the older of two generations goes
 * to the younger one, which costs a call that finds its source nothing (a list in the order of use, 60 ns).
 */
export class Sources {
  readonly #parsers: Partial<Record<Language, Parse>> = {};
  #young: Generation = newGeneration();
  #old: Generation = newGeneration();

  /** The program of a source, or what is wrong with it. A promise while the parser is loaded, the first time. */
  compile(code: string, language: Language): Program | CodeRefusal | Promise<Program | CodeRefusal> {
    const known = this.#young[language].get(code);
    if (known !== undefined) return known;
    if (code.length > LONGEST_SOURCE) {
      return new CodeRefusal(
        "compile-error",
        `The code has ${code.length} characters, and ${LONGEST_SOURCE} are the most; hand data over as input.`,
      );
    }
    const old = this.#old[language].get(code);
    if (old !== undefined) return this.#keep(code, language, old);
    const parse = this.#parsers[language];
    return parse === undefined ? this.#load(code, language) : this.#keep(code, language, compile(parse, code));
  }

  async #load(code: string, language: Language): Promise<Program | CodeRefusal> {
    try {
      this.#parsers[language] = await loadParser(language);
    } catch (error) {
      if (error instanceof CodeRefusal) return error;
      throw error;
    }
    return this.compile(code, language);
  }

  #keep(code: string, language: Language, program: Program | CodeRefusal): Program | CodeRefusal {
    this.#young[language].set(code, program);
    this.#young.length += code.length;
    this.#young.count++;
    if (this.#young.count >= KEPT || this.#young.length > KEPT_LENGTH) {
      this.#old = this.#young;
      this.#young = newGeneration();
    }
    return program;
  }
}

interface Generation extends Readonly<Record<Language, Map<string, Program | CodeRefusal>>> {
  length: number;
  count: number;
}

const newGeneration = (): Generation => ({ javascript: new Map(), typescript: new Map(), length: 0, count: 0 });
