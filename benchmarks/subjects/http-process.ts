/** A server in a process of its own, `http-process.ts MODULE NAME`: its parent puts load on it. */
import { memoryHere } from "../harness/heap";
import { follow, WorkerProcess } from "../harness/worker";

/** A server that listens; `path` is what its row asks, where nobody knows it beforehand, and `calls` are more that it can be asked. */
export type Started = {
  readonly port: number;
  readonly path?: string;
  readonly calls?: Readonly<Record<string, () => unknown>>;
};

/** A module of servers exports these, by name. */
type Start = () => Started | Promise<Started>;

export type Server = Awaited<ReturnType<typeof startServer>>;

const PATIENCE = 30_000;

export async function startServer(module: string, name: string) {
  const child = new WorkerProcess<string, unknown>([import.meta.path, module, name]);
  /** Asks for its `cpu`, in microseconds so far, the `times` that it is made of, its `memory`, or what else the server can be asked. */
  const call = <Value = number>(what: string) => child.ask(what, PATIENCE) as Promise<Value>; // Its caller knows what it gives.
  const { port, path = "/" } = await call<Started>("where");
  return { port, path, call, [Symbol.asyncDispose]: () => child.end() };
}

if (import.meta.main) {
  const [module = "", name = ""] = process.argv.slice(2);
  const starting = import(module).then((starts: Readonly<Record<string, Start>>) => starts[name]?.());
  starting.catch(() => {}); // Each order tells it.
  follow(async (what: string) => {
    const started = await starting;
    const { user, system } = process.cpuUsage();
    switch (what) {
      case "where":
        return { port: started?.port, path: started?.path };
      case "cpu":
        return user + system;
      case "times":
        return { user, system };
      case "memory":
        return memoryHere();
      default:
        return started?.calls?.[what]?.();
    }
  });
}
