import type { Program } from "../tier";

/** What the caller's code is called in the stacks of the interpreter. */
export const FILE = "program.js";

/** The line there that the caller's first one is: one of ours stands before it. */
export const FIRST_LINE = 2;

/** How many programs of a room are known by their names at once; calls in older ones are left out of stacks. */
const MOST_PROGRAMS = 1_000;

/** The names that the programs of a room have in stacks: each its own, so that a place there is one in the right source. */
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
