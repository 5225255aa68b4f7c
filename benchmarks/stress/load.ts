import type { Audit } from "envoi";
import { disk, makeFolder } from "../harness/places";
import { Generator, type Mix, type Request } from "./generator";
import type { Said } from "./subject";

interface LoadOptions {
  readonly subject: URL;
  readonly name?: string;
  /** Milliseconds until a request without an answer is given up. Default: 1,000. */
  readonly patience?: number;
  readonly signal: AbortSignal;
}

/** Load on an open schedule, from this process on a subject in a process of its own. */
export type Load = Awaited<ReturnType<typeof startLoad>>;

/** Requests on their way to the process under load; others wait here, where they can be given up, or it would answer nobody. */
const ON_THE_WAY = 1_000;
const PATIENCE = 10_000;

export async function startLoad({ subject, name = "", patience = 1_000, signal }: LoadOptions) {
  signal.throwIfAborted();
  const { path } = makeFolder(disk, "envoi-stress-"); // The process removes it.
  const gone = Promise.withResolvers<never>();
  gone.promise.catch(() => {}); // All that waits for the process tells it.
  const calls: PromiseWithResolvers<unknown>[] = [];
  const waiting: (readonly Request[])[] = [];
  let onTheWay = 0;
  let hasEnded = false;
  /** Sends what may be sent; requests that were given up meanwhile are left out. */
  const send = () => {
    while (onTheWay < ON_THE_WAY && waiting.length > 0) {
      const open = (waiting.shift() ?? []).filter(([id]) => generator.isOpen(id));
      if (open.length === 0) continue;
      onTheWay += open.length;
      child.send(open);
    }
  };
  const hear = (said: Said) => {
    if ("value" in said) calls.shift()?.resolve(said.value);
    else if ("error" in said) calls.shift()?.reject(new Error(said.error));
    else {
      for (let i = 0; i < said.answers.length; i += 2) {
        const [id, outcome] = [Number(said.answers[i]), said.answers[i + 1]];
        generator.settle(id, outcome === id ? undefined : typeof outcome === "string" ? outcome : "wrong");
      }
      onTheWay -= said.taken;
      send();
    }
  };
  const hangUp = () => {
    hasEnded = true;
    clearInterval(timer);
    signal.removeEventListener("abort", stop);
    gone.reject(new Error("The load has ended, and so has the process that bore it."));
  };
  const child = Bun.spawn({
    cmd: [process.execPath, Bun.fileURLToPath(new URL("subject.ts", import.meta.url)), subject.href, name, path],
    stdio: ["ignore", "ignore", "inherit"],
    serialization: "json",
    ipc: hear,
    onExit: hangUp,
  });
  const enqueue = (requests: readonly Request[]) => {
    waiting.push(requests);
    send();
  };
  const generator = new Generator({ patience, send: enqueue });
  const timer = setInterval(() => generator.tick(), 1);
  const stop = async () => {
    if (!hasEnded) child.disconnect();
    hangUp();
    const late = setTimeout(() => child.kill("SIGKILL"), PATIENCE);
    await child.exited;
    clearTimeout(late);
  };
  signal.addEventListener("abort", stop);
  const call = <Value>(command: string): Promise<Value> => {
    const answer = Promise.withResolvers<unknown>();
    calls.push(answer);
    if (!hasEnded) child.send(command);
    // The caller knows what the command gives.
    return Promise.race([answer.promise as Promise<Value>, gone.promise]);
  };
  const load = {
    call,
    change: (rate: number, mix?: Mix) => generator.change(rate, mix),
    window: (milliseconds: number) => Promise.race([generator.window(milliseconds), gone.promise]),
    /** Sends no more. Resolves with the audit once nothing is open, waits or runs, or with what it was after ten seconds. */
    async rest() {
      generator.change(0);
      for (const end = performance.now() + PATIENCE; ; await Bun.sleep(10)) {
        const audit = await call<Audit>("audit");
        const isBusy = generator.isBusy || audit.queued + audit.running > 0;
        if (!isBusy || performance.now() > end) return audit;
      }
    },
    [Symbol.asyncDispose]: stop,
  };
  try {
    await call("audit"); // It is open.
    return load;
  } catch (thrown) {
    await stop();
    throw thrown;
  }
}
