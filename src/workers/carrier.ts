import { Worker } from "node:worker_threads";
import type { Clock } from "../index";
import type { Binary } from "../link/index";
import { BUN_MARK, isCompiled, isLastMessage, type Posted, PROCESS_MARK, postWith, readPosted } from "./control";

/** A thread or a process that runs, and the texts to and from it. */
export interface Carrier {
  /** The id of the process; undefined for a thread. */
  readonly pid: number | undefined;
  /** False once it has ended. */
  post(text: string, bytes?: readonly Binary[]): boolean;
  /** Ends it at once, whatever it does. */
  kill(): void;
}

/** The callbacks of a carrier. */
export interface Hearing {
  onText(text: string, bytes?: readonly unknown[]): void;
  /** It has ended, or can do no more. Called once. */
  onEnd(cause: Error): void;
}

/** The cause of a worker that nobody ended. */
export class EndedByItself extends Error {
  constructor(what: "worker" | "process", how: string) {
    super(`The ${what} has ended by itself, ${how}.`);
  }

  /** It had not begun to hear. */
  get early(): Error {
    return new Error(`${this.message.slice(0, -1)}: its entry had not called serveWorker().`);
  }
}

/** The way to start a worker. */
export interface Starting {
  readonly entry: string;
  readonly env: Readonly<Record<string, string>>;
  readonly clock: Clock;
}

// A `Worker` of node:worker_threads, because that of the web tells an uncaught error late: after 25 ms instead of 1.4 with a heap of 40 MB.
export function startThread({ entry, env, clock }: Starting, { onText, onEnd }: Hearing): Carrier {
  const worker = new Worker(entry, { env: { ...process.env, ...env } as Record<string, string> }); // Variables are texts.
  let hasEnded = false;
  const end = (cause: Error): void => {
    if (hasEnded) return;
    hasEnded = true;
    onEnd(cause);
  };
  const endBy = (code: number): void => end(new EndedByItself("worker", `with code ${code}`));
  worker.on("message", (data: unknown) => {
    if (hasEnded) return;
    if (isLastMessage(data))
      clock.macrotask(() => endBy(data.envoiExitCode)); // An error that ended it may be right behind it.
    else readPosted(data, onText);
  });
  worker.on("error", (thrown: unknown) => {
    const error = thrown instanceof Error ? thrown : Bun.inspect(thrown); // A copy, whose texts are texts.
    end(new Error(`The worker failed: ${error}`, { cause: thrown }));
  });
  worker.on("exit", endBy);
  return {
    pid: undefined,
    post(text, bytes) {
      if (hasEnded) return false;
      if (bytes === undefined) worker.postMessage(text);
      else postWith(worker, text, bytes);
      return true;
    },
    kill() {
      void worker.terminate();
      end(new Error("The worker was ended."));
    },
  };
}

export function startProcess({ entry, env }: Starting, { onText, onEnd }: Hearing): Carrier {
  let hasEnded = false;
  const end = (cause: Error): void => {
    if (hasEnded) return;
    hasEnded = true;
    onEnd(cause);
  };
  const child = Bun.spawn([process.execPath, entry], {
    env: { ...process.env, ...env, ...(isCompiled ? { [BUN_MARK]: "1" } : {}), [PROCESS_MARK]: String(process.pid) },
    stdio: ["ignore", "inherit", "inherit"],
    // Texts of a turn have many quotes, which "json" escapes: of 64 asks at once, it carried a third as many per second.
    serialization: "advanced",
    ipc(data: unknown) {
      if (!hasEnded) readPosted(data, onText);
    },
    onDisconnect() {
      child.kill("SIGKILL"); // It has ended, and its end is about to be told, or it closed its channel.
    },
    onExit(_child, code, signal) {
      const how = typeof code === "number" ? `with code ${code}` : `by signal ${signal}`;
      end(new EndedByItself("process", how));
    },
  });
  return {
    pid: child.pid,
    post(text, bytes) {
      if (hasEnded) return false;
      try {
        const posted: Posted = bytes === undefined ? text : [text, ...bytes];
        child.send(posted);
        return true;
      } catch {
        return false;
      }
    },
    kill() {
      child.kill("SIGKILL"); // Its end is told soon: nothing that it does comes afterwards.
    },
  };
}
