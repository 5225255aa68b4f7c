import { descendants, signalAll } from "../harness/processes";

const alive = new Set<Bun.Subprocess>();
let isEnding = false;

/**
 * Remembers a process, which must lead a group of its own (`detached`), until it ends; so that none is left behind. Once all
 * are to end, a new one ends at once.
 */
export function adopt<Child extends Bun.Subprocess>(child: Child): Child {
  alive.add(child);
  void child.exited.then(() => alive.delete(child));
  if (isEnding) endByForce(child);
  return child;
}

/** Ends a process by force, with its group and all that it started. */
export function endByForce({ pid }: Bun.Subprocess): void {
  signalAll([...descendants(pid), -pid], "SIGKILL");
}

/** Ends all that are still there, and waits until they have ended. */
export async function endAll(): Promise<void> {
  isEnding = true;
  while (alive.size > 0) {
    const all = [...alive];
    for (const child of all) endByForce(child);
    await Promise.all(all.map(({ exited }) => exited));
  }
}
