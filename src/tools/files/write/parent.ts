import { type Path, parentOf } from "../path";
import type { Workspace } from "../workspace";

/**
 * The directory that a path is in. It may stay open over a pause. Since others may move it then, `enter` makes sure of
 * its place before the next use: the rules were checked for the path.
 */
export class Parent {
  readonly #workspace: Workspace;
  readonly #path: Path;
  /** Open, or −1. */
  #at = -1;
  #isSure = false;

  constructor(workspace: Workspace, path: Path) {
    this.#workspace = workspace;
    this.#path = path;
  }

  /** The directory that `enter` opened. −1 if it was closed. */
  get at(): number {
    return this.#at;
  }

  /** Opens the directory, or makes sure that the open one is still at its path. `parents` makes a missing one. */
  enter(parents: boolean): number {
    if (this.#isSure) return this.#at;
    if (this.#at >= 0 && !this.#workspace.root.isInPlace(parentOf(this.#path), this.#at)) this.close();
    if (this.#at < 0) this.#at = this.#workspace.enter(this.#path, parents);
    this.#isSure = true;
    return this.#at;
  }

  /** Called before a pause. The next `enter` looks whether the directory was moved. */
  pause(): void {
    this.#isSure = false;
  }

  close(): void {
    if (this.#at >= 0) this.#workspace.leave(this.#at);
    this.#at = -1;
    this.#isSure = false;
  }
}
