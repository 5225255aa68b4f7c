/** The server and the other processes of the rows of the suite nats. */
import { type NatsServer, startNats } from "../../harness/nats-server";

export const SILENT = { warn() {}, error() {} };
export const LONG = { timeout: 60_000 };

// One server for a row and its floor.

let started: Promise<NatsServer> | undefined;
let users = 0;

export async function useServer(): Promise<{ readonly url: string; end(): Promise<void> }> {
  users++;
  started ??= startNats();
  const server = await started;
  const end = async (): Promise<void> => {
    if (--users > 0) return;
    started = undefined;
    await server.close();
  };
  return { url: server.url, end };
}

/** Starts a program beside this one, and resolves when it says that it is there. */
export async function program(name: string, ...args: readonly string[]): Promise<Bun.Subprocess> {
  const file = new URL(`${name}.ts`, import.meta.url).pathname;
  const child = Bun.spawn([process.execPath, file, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const { done } = await child.stdout.getReader().read();
  if (done) throw new Error(`${name} has ended before it was there`);
  return child;
}

export async function end(child: Bun.Subprocess): Promise<void> {
  child.kill("SIGKILL");
  await child.exited;
}

let clusters = 0;

/** A name that no other cluster or stream of this run has. */
export const newName = (what: string): string => `${what}-${process.pid}-${clusters++}`;
