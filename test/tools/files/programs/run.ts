import { join } from "node:path";

/** A program of this directory that runs. */
export interface Running {
  /** Ends it with SIGKILL, and waits until it is gone. */
  kill(): Promise<void>;
  /** Waits until it ends by itself; fails where it fails. */
  ended(): Promise<void>;
}

/** Starts a program, and waits until it has said so. */
export async function program(name: string, args: readonly string[], expected?: string): Promise<Running> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, `${name}.ts`), ...args], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  if (expected !== undefined) {
    const reader = child.stdout.getReader();
    let said = "";
    while (!said.includes(expected)) {
      const { done, value } = await reader.read();
      if (done) throw new Error(`${name} ended, and did not say ${expected}.`);
      said += Buffer.from(value).toString();
    }
    reader.releaseLock();
  }
  return {
    async kill() {
      child.kill("SIGKILL");
      await child.exited;
    },
    async ended() {
      const code = await child.exited;
      if (code !== 0) throw new Error(`${name} ended with ${code}.`);
    },
  };
}
