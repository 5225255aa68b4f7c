import type { Subprocess } from "bun";

/** What a process does when it is called; each takes one argument, and what it gives back can be cloned. */
export type Handlers = Readonly<Record<string, (argument: never) => unknown>>;

interface Call {
  readonly call: number;
  readonly name: string;
  readonly argument: unknown;
}

type Return = { readonly call: number } & ({ readonly value: unknown } | { readonly error: string });

/** Serves calls of the process that started this one, and ends with it. */
export function serveParent(handlers: Handlers, atEnd: () => unknown = () => {}): void {
  process.on("message", async ({ call, name, argument }: Call) => {
    const answer = (returned: Return) => process.send?.(returned);
    try {
      // `Child` calls what there is with what it takes.
      const handler = handlers[name] as (argument: unknown) => unknown;
      answer({ call, value: await handler(argument) });
    } catch (thrown) {
      answer({ call, error: thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown) });
    }
  });
  process.on("disconnect", async () => {
    await atEnd();
    process.exit();
  });
  // Ctrl-C reaches all processes of a terminal; the one that started this one says when it is over.
  process.on("SIGINT", () => {});
}

/** A process of its own that serves calls. */
export class Child<Served extends Handlers> {
  readonly #process: Subprocess<"ignore", "ignore", "pipe">;
  readonly #open = new Map<number, PromiseWithResolvers<unknown>>();
  readonly #name: string;
  readonly #complaint: Promise<string>;
  #calls = 0;
  #hasEnded = false;

  /** @param module The program, such as `new URL("generator.ts", import.meta.url)`. */
  constructor(module: URL, args: readonly string[] = []) {
    this.#name = module.pathname.slice(module.pathname.lastIndexOf("/") + 1);
    this.#process = Bun.spawn({
      cmd: [process.execPath, Bun.fileURLToPath(module), ...args],
      stdio: ["ignore", "ignore", "pipe"],
      serialization: "advanced",
      ipc: (returned: Return) => {
        const waiting = this.#open.get(returned.call);
        this.#open.delete(returned.call);
        if ("error" in returned) waiting?.reject(new Error(`${this.#name}: ${returned.error}`));
        else waiting?.resolve(returned.value);
      },
    });
    this.#complaint = this.#process.stderr.text();
    this.#process.exited.then((status) => this.#tellEnd(status));
  }

  get pid(): number {
    return this.#process.pid;
  }

  /** Calls one of its handlers; rejects with its error, or when the process ends before it has answered. */
  call<Name extends keyof Served & string>(
    name: Name,
    argument: Parameters<Served[Name]>[0],
  ): Promise<Awaited<ReturnType<Served[Name]>>> {
    const waiting = Promise.withResolvers<unknown>();
    if (this.#hasEnded) waiting.reject(new Error(`${this.#name} has ended.`));
    else {
      const call = this.#calls++;
      this.#open.set(call, waiting);
      this.#process.send({ call, name, argument } satisfies Call);
    }
    // It is what the handler of that name gave back.
    return waiting.promise as Promise<Awaited<ReturnType<Served[Name]>>>;
  }

  /** Ends the process: it may finish what it does at its end, but not for long. */
  async end(): Promise<void> {
    if (!this.#hasEnded) this.#process.disconnect();
    const timer = setTimeout(() => this.#process.kill("SIGKILL"), 3_000);
    await this.#process.exited;
    clearTimeout(timer);
  }

  async #tellEnd(status: number): Promise<void> {
    this.#hasEnded = true;
    const complaint = (await this.#complaint).trim();
    for (const { reject } of this.#open.values()) {
      reject(new Error(`${this.#name} ended with status ${status}${complaint === "" ? "." : `: ${complaint}`}`));
    }
    this.#open.clear();
  }
}
