import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { NatsServer } from "../../../benchmarks/harness/nats-server";

/** Copies what a server has on its disk. The function that it returns kills the server, and starts it with that: without what it stored since. */
export function copyDisk(server: NatsServer): () => Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "envoi-earlier-"));
  const [store, earlier] = [join(server.folder, "store"), join(folder, "store")];
  server.pause();
  cpSync(store, earlier, { recursive: true });
  server.resume();
  return async () => {
    await server.kill();
    rmSync(store, { recursive: true });
    cpSync(earlier, store, { recursive: true });
    rmSync(folder, { recursive: true });
    await server.restart();
  };
}
