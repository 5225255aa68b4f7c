import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A text that no outcome may ever show. */
export const SECRET = "the-secret-of-the-host";

/** The host's secrets that code would like to have: in a file, in its environment, in its memory, behind sockets. */
export class Loot {
  readonly place = mkdtempSync(join(tmpdir(), "envoi-loot-"));
  readonly file = join(this.place, "secret.txt");
  readonly socket = join(this.place, "socket");
  /** Of this machine, and nobody else's: at 127.0.0.1 it may be a port for which another test, or a program, still looks. */
  readonly address = "127.83.1.9";
  readonly port: number;
  /** Connections so far. */
  visits = 0;
  readonly #listeners: readonly { stop(isForced?: boolean): void }[];

  constructor() {
    writeFileSync(this.file, SECRET);
    process.env["ENVOI_SECRET"] = SECRET;
    Reflect.set(globalThis, "envoiSecret", SECRET);
    const socket = { open: () => void this.visits++, data() {} };
    const tcp = Bun.listen({ hostname: this.address, port: 0, socket });
    this.port = tcp.port;
    this.#listeners = [tcp, Bun.listen({ unix: this.socket, socket })];
  }

  /** An expression whose value is the names of the ways by which code got hold of any of it, in time. */
  get grab(): string {
    const { address, port } = this;
    const [file, socket, made] = [this.file, this.socket, join(this.place, "made")].map((path) => JSON.stringify(path));
    return `(async () => {
      const ways = {
        file: () => Bun.file(${file}).text(),
        required: () => require("node:fs").readFileSync(${file}),
        imported: () => import("node:fs").then((fs) => fs.readFileSync(${file})),
        module: () => import(${file}),
        made: () => import("node:fs").then((fs) => (fs.writeFileSync(${made}, "x"), 1)),
        named: () => process.env.ENVOI_SECRET,
        environment: () => import("node:process").then((all) => all.env.ENVOI_SECRET),
        memory: () => globalThis.envoiSecret,
        spawned: () => Bun.spawnSync(["cat", ${file}]).success,
        executed: () => import("node:child_process").then((all) => all.execFileSync("cat", [${file}])),
        fetched: () => fetch("http://${address}:${port}/", { signal: AbortSignal.timeout(100) }),
        connected: () => Bun.connect({ hostname: "${address}", port: ${port}, socket: { data() {} } }),
        local: () => Bun.connect({ unix: ${socket}, socket: { data() {} } }),
      }
      const got = []
      for (const name of Object.keys(ways)) try { if (await ways[name]()) got.push(name) } catch {}
      return got
    })()`;
  }

  remove(): void {
    for (const listener of this.#listeners) listener.stop(true);
    Reflect.deleteProperty(process.env, "ENVOI_SECRET");
    Reflect.deleteProperty(globalThis, "envoiSecret");
    rmSync(this.place, { recursive: true });
  }
}
