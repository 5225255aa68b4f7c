import type { Program } from "../tier";

/** The file name of the caller's code in the interpreter's stacks. */
export const FILE = "program.js";

/** The line of the file that is the caller's first: a line of ours stands before it. */
export const FIRST_LINE = 2;

/** Most programs of a room that are known by name. Calls in older ones are left out of stacks. */
const MOST_PROGRAMS = 1_000;

/** File names for the programs of a room. Each program has its own, so that a place in a stack leads to the right source. */
export class ProgramFiles {
  readonly #programs = new Map<string, Program>();
  readonly #names = new Map<Program, string>();
  #count = 0;

  nameOf(program: Program): string {
    const known = this.#names.get(program);
    if (known !== undefined) return known;
    const name = this.#count === 0 ? FILE : `program-${this.#count}.js`;
    this.#count++;
    this.#programs.set(name, program);
    this.#names.set(program, name);
    if (this.#programs.size > MOST_PROGRAMS) {
      for (const [oldest, gone] of this.#programs) {
        this.#programs.delete(oldest);
        this.#names.delete(gone);
        break;
      }
    }
    return name;
  }

  programOf(name: string): Program | undefined {
    return this.#programs.get(name);
  }
}
