import { PROCESS_MARK } from "./control";

/** A thread or a process that runs, and the texts to and from it. */
export interface Carrier {
  /** The id of the process; undefined for a thread. */
  readonly pid: number | undefined;
  /** False once it has ended. */
  post(text: string): boolean;
  /** Ends it at once, whatever it does. */
  kill(): void;
}

/** The callbacks of a carrier. */
export interface Hearing {
  onText(text: string): void;
  /** It has ended, or can do no more. Called once. */
  onEnd(cause: Error): void;
}

/** The way to start a worker. */
export interface Starting {
  readonly entry: string;
  readonly env: Readonly<Record<string, string>>;
}

export function startThread({ entry, env }: Starting, { onText, onEnd }: Hearing): Carrier {
  const worker = new Worker(entry, { env: { ...process.env, ...env } as Record<string, string> }); // Variables are texts.
  let hasEnded = false;
  const end = (cause: Error): void => {
    if (hasEnded) return;
    hasEnded = true;
    onEnd(cause);
  };
  worker.onmessage = ({ data }: MessageEvent) => {
    if (typeof data === "string" && !hasEnded) onText(data);
  };
  worker.onerror = (event: ErrorEvent) => {
    event.preventDefault();
    end(new Error(`The worker failed: ${lineOf(event.message)}`));
  };
  worker.addEventListener("close", (event) => {
    const { code } = event as CloseEvent; // Bun gives the exit code of the thread.
    end(new Error(`The worker has ended by itself, with code ${code}.`));
  });
  return {
    pid: undefined,
    post(text) {
      if (hasEnded) return false;
      worker.postMessage(text);
      return true;
    },
    kill() {
      worker.terminate();
      end(new Error("The worker was ended."));
    },
  };
}

/** The line of a printed error that says what it is: Bun shows the source before it, and the stack behind it. */
function lineOf(printed: string): string {
  const lines = printed.split("\n");
  return (lines.find((line) => /^(?:\w*[eE]rror|[A-Z]\w+): /.test(line)) ?? lines[0] ?? "").replace(/^error: /, "");
}

export function startProcess({ entry, env }: Starting, { onText, onEnd }: Hearing): Carrier {
  let hasEnded = false;
  const end = (cause: Error): void => {
    if (hasEnded) return;
    hasEnded = true;
    onEnd(cause);
  };
  const child = Bun.spawn([process.execPath, entry], {
    env: { ...process.env, ...env, [PROCESS_MARK]: "1" },
    stdio: ["ignore", "inherit", "inherit"],
    // Texts of a turn have many quotes, which "json" escapes: of 64 asks at once, it carried a third as many per second.
    serialization: "advanced",
    ipc(text: unknown) {
      if (typeof text === "string" && !hasEnded) onText(text);
    },
    onDisconnect() {
      child.kill("SIGKILL"); // It has ended, and its end is about to be told, or it closed its channel.
    },
    onExit(_child, code, signal) {
      const how = typeof code === "number" ? `with code ${code}` : `by signal ${signal}`;
      end(new Error(`The process has ended by itself, ${how}.`));
    },
  });
  return {
    pid: child.pid,
    post(text) {
      if (hasEnded) return false;
      try {
        child.send(text);
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
