import { leastByteLength } from "../content";
import { FileRefusal, refuse } from "../file-error";
import { overlap } from "../order";
import { Pace } from "../pace";
import { parsePath } from "../path";
import type { Change, Changed, ChangeReply, ChangeRequest } from "../requests/several";
import type { Task, Workspace } from "../workspace";
import { expectWritable } from "../write/limits";
import type { Amount } from "../write/usage";
import { FileStep } from "./file-step";
import { NameStep } from "./name-step";
import type { Step } from "./step";

/** Changes checked in one turn. Checking a file takes up to 0.2 ms. */
const FEW = 8;
/**
 * Tries after the first. Without others at work, three are needed at most: one for the hashes, one for the copies on
 * other file systems, and one for the hashes of the files that were taken back for those.
 */
const MOST_TRIES = 16;

/** The paths of a change. */
export const pathsOfChange = (change: Change): string[] =>
  change.kind === "move" ? [change.from, change.to] : [change.path];

/**
 * Changes several files, all or none. All are staged, and checked again with the write lock held, before the first one
 * is placed. If one fails after that, the placed ones are taken back in the same turn. A process killed within these
 * microseconds leaves some of them changed, each of them whole.
 */
export async function change(workspace: Workspace, request: ChangeRequest, { signal }: Task): Promise<ChangeReply> {
  const work = new Changes(workspace, request);
  return { changes: request.dryRun === true ? await work.try(signal) : await work.make(signal) };
}

class Changes {
  readonly #workspace: Workspace;
  readonly #isDurable: boolean;
  readonly #steps: readonly Step[];
  #size = 0;

  constructor(workspace: Workspace, { changes, durable, diff }: ChangeRequest) {
    this.#workspace = workspace;
    this.#isDurable = durable === true;
    const contents = changes.filter((each) => each.kind === "write");
    const least = contents.reduce((sum, each) => sum + leastByteLength(each), 0);
    expectWritable(workspace, least, contents[0]?.path ?? "");
    this.#steps = changes.map((each, index) =>
      told(index, changes.length, () =>
        each.kind === "write" || each.kind === "edit"
          ? new FileStep(workspace, each, diff === true)
          : new NameStep(workspace, each, diff === true),
      ),
    );
    expectDistinct(changes);
  }

  async try(signal: AbortSignal): Promise<Changed[]> {
    const { quota } = this.#workspace;
    const changed: Changed[] = [];
    const missing = new Set<string>();
    const pace = this.#pace();
    for (const step of this.#steps) {
      changed.push(await this.#told(step, () => step.try(signal, pace)));
      this.#count(step);
      await pace.rest();
      if (quota?.boundsFiles === true) for (const directory of step.missing()) missing.add(directory);
      await pace.rest();
      signal.throwIfAborted();
    }
    const made = missing.size;
    await quota?.countFor(this.#size, this.#steps.length + made);
    quota?.admit(0, this.#given, made); // The missing directories would be made first.
    this.#admit(made);
    return changed;
  }

  async make(signal: AbortSignal): Promise<Changed[]> {
    const { lock, quota } = this.#workspace;
    let changed: Changed[];
    try {
      const pace = this.#pace();
      for (const step of this.#steps) {
        signal.throwIfAborted();
        await this.#told(step, () => step.stage(signal));
        this.#count(step);
        await pace.rest();
        if (this.#isDurable) await this.#told(step, () => step.sync());
      }
      await quota?.countFor(this.#size, this.#steps.length);
      await lock.acquire(this.#given);
      try {
        signal.throwIfAborted(); // The wait for the lock may have been long.
        if (this.#steps.length > FEW) await this.#look(signal);
        for (let tries = MOST_TRIES; ; tries--) {
          while (quota !== null && quota.counting !== null) await quota.counting;
          signal.throwIfAborted();
          const unready = this.#place();
          const [first] = unready;
          if (first === undefined) break;
          if (tries === 0) refuse("changed", first.given, "It is changed by others without end; try again.");
          await this.#prepare(unready, signal);
        }
      } finally {
        lock.release();
      }
      changed = await this.#keep();
    } finally {
      for (const step of this.#steps) step.end();
    }
    if (this.#isDurable) for (const step of this.#steps) await step.syncNames();
    return changed;
  }

  /** Checks the steps one by one, with pauses. Slow parts are done here, before all are checked and placed in one turn. */
  async #look(signal: AbortSignal): Promise<void> {
    const pace = this.#pace();
    for (const step of this.#steps) {
      step.pause();
      if (!this.#told(step, () => step.check())) await this.#told(step, () => step.prepare(signal));
      await pace.rest();
      signal.throwIfAborted();
    }
  }

  async #prepare(unready: readonly Step[], signal: AbortSignal): Promise<void> {
    const pace = this.#pace();
    for (const step of unready) {
      await this.#told(step, () => step.prepare(signal));
      await pace.rest();
      signal.throwIfAborted();
    }
  }

  /** Removes the replaced and deleted files, with pauses: a file of 4 MB takes half a millisecond. */
  async #keep(): Promise<Changed[]> {
    const pace = this.#pace();
    const changed: Changed[] = [];
    for (const step of this.#steps) {
      changed.push(step.keep());
      await pace.rest();
    }
    return changed;
  }

  #pace(): Pace {
    return new Pace(this.#workspace, Number.POSITIVE_INFINITY);
  }

  /**
   * Checks and places all steps in one turn. Returns the steps that must be prepared first; then none is placed. Those
   * of a hundred files on another file system are all found in one turn: one a turn took 300 ms, and found no end.
   */
  #place(): Step[] {
    const { quota } = this.#workspace;
    const unchecked = this.#steps.filter((step) => {
      // Each has its directories open since an earlier turn. To resolve all paths again, of 100 files 500 directories
      // deep, took 365 ms by `proc-fd` and 20 by `openat2`.
      step.pause();
      return !this.#told(step, () => step.check());
    });
    if (unchecked.length > 0) return unchecked;
    const { bytes, files } = this.#admit(0);
    const placed: Step[] = [];
    const unready: Step[] = [];
    try {
      for (const step of this.#steps) (this.#told(step, () => step.place()) ? placed : unready).push(step);
    } catch (thrown) {
      this.#undo(placed);
      throw thrown;
    }
    if (unready.length > 0) this.#undo(placed);
    else quota?.add(bytes, files);
    return unready;
  }

  /** Refuses the steps if the quota has no room for their total, by the last checks, plus `others` files. */
  #admit(others: number): Amount {
    const bytes = this.#steps.reduce((sum, { more }) => sum + more, 0);
    const files = this.#steps.reduce((sum, { moreFiles }) => sum + moreFiles, 0);
    this.#workspace.quota?.admit(bytes, this.#given, files + others);
    return { bytes, files };
  }

  get #given(): string {
    return this.#steps[0]?.given ?? "";
  }

  #undo(placed: readonly Step[]): void {
    const stuck = placed.toReversed().filter((step) => step.undo() < 0);
    const [first] = stuck;
    if (first === undefined) return;
    const shown = stuck.map(({ given }) => JSON.stringify(given)).join(", ");
    const advice = "look at what is there";
    refuse("io", first.given, `A change failed, and that of ${shown} was made and could not be taken back; ${advice}.`);
  }

  /** Adds the bytes that a step writes to the total, and refuses too many. */
  #count(step: Step): void {
    this.#size += step.size;
    expectWritable(this.#workspace, this.#size, step.given);
  }

  #told<Value>(step: Step, work: () => Value): Value {
    return told(this.#steps.indexOf(step), this.#steps.length, work);
  }
}

/** Does a part of one of several changes. A refusal then names the change. */
function told<Value>(index: number, count: number, work: () => Value): Value {
  const refusal = (thrown: unknown): unknown => {
    if (!(thrown instanceof FileRefusal)) return thrown;
    const message = `Change ${index + 1} of ${count} cannot be made, and none was: ${thrown.error.message}`;
    return new FileRefusal({ ...thrown.error, message });
  };
  try {
    const value = work();
    if (!(value instanceof Promise)) return value;
    // The promise of the same value, with the changed refusal.
    return value.catch((thrown) => Promise.reject(refusal(thrown))) as Value;
  } catch (thrown) {
    throw refusal(thrown);
  }
}

/** Refuses two changes of the same path, or of a path within another, since their order would matter. */
function expectDistinct(changes: readonly Change[]): void {
  const seen: { readonly whole: string; readonly index: number }[] = [];
  for (const [index, each] of changes.entries()) {
    for (const given of pathsOfChange(each)) {
      const { whole } = parsePath(given);
      const other = seen.find((before) => overlap(before.whole, whole));
      if (other !== undefined) {
        refuse(
          "invalid-path",
          given,
          `Changes ${other.index + 1} and ${index + 1} are of one path, or one within the other: ${JSON.stringify(given)}; make one of them.`,
        );
      }
      seen.push({ whole, index });
    }
  }
}
