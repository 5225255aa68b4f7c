/** A server in a process of its own, `http-process.ts MODULE NAME`; its parent is the load. */
import { memoryHere } from "../harness/heap";
import { follow, WorkerProcess } from "../harness/worker";

/** A server that listens. */
export interface Started {
  readonly port: number;
  /** The path that its row asks. */
  readonly path: string;
  /** More that its parent may call. */
  readonly commands?: Readonly<Record<string, () => unknown>>;
}

/** A module of servers exports these, by name. */
export type Start = () => Started | Promise<Started>;

export type Server = Awaited<ReturnType<typeof startServer>>;

const PATIENCE = 30_000;

export async function startServer(module: string, name: string) {
  const child = new WorkerProcess<string, unknown>([import.meta.path, module, name]);
  /** Runs a command: `cpu` in microseconds, `memory` in bytes, or one of the server's own. */
  const call = <Value = number>(command: string) => child.ask(command, PATIENCE) as Promise<Value>; // Its caller knows what it gives.
  const where = await call<Pick<Started, "port" | "path">>("where");
  return { ...where, call, [Symbol.asyncDispose]: () => child.end() };
}

if (import.meta.main) {
  const [module = "", name = ""] = process.argv.slice(2);
  const starting = import(module).then((starts: Readonly<Record<string, Start>>) => starts[name]?.());
  starting.catch(() => {}); // Each order tells it.
  follow(async (command: string) => {
    const { port = 0, path = "", commands } = (await starting) ?? {};
    const cpu = (): number => {
      const { user, system } = process.cpuUsage();
      return user + system;
    };
    const all: Started["commands"] = { where: () => ({ port, path }), cpu, memory: memoryHere, ...commands };
    return (await all[command]?.()) ?? null;
  });
}
