import { afterEach, describe, expect, test } from "bun:test";
import { createSystem } from "../../src";
import { connectCluster } from "../../src/nats";
import { Nodes } from "../../src/nats/nodes";
import { event } from "./events";
import { Log, Writer } from "./programs/protocols";
import { hasNats, server } from "./rooms";

const LONG = { timeout: 60_000 };
const children: Bun.Subprocess[] = [];
const { admits } = Nodes.prototype;
afterEach(async () => {
  Nodes.prototype.admits = admits;
  for (const child of children.splice(0)) {
    child.kill("SIGKILL");
    await child.exited;
  }
});

describe.skipIf(!hasNats)("an owner that others take for dead", async () => {
  const { url } = hasNats ? await server() : { url: "" };

  /**
   * Node `main` has the log, and takes the singleton over from a writer in another process. Gives the writes, in order, and the epoch of `main`.
   *
   * @param lease that of the writer: with a longer one than that of the cluster it never notices that it is late.
   */
  async function takeOver(name: string, lease: number, harm: (writer: Bun.Subprocess) => void) {
    const system = createSystem({ hookTimeout: 60_000, logger: { warn() {}, error() {} } });
    const cluster = await connectCluster(system, { servers: url, name, node: "main", lease: 1_000 });
    const writes: { readonly epoch: number; readonly node: string }[] = [];
    let heard = (): void => undefined;
    const log = system.spawn("log", Log, () => ({
      write(one) {
        writes.push(one);
        heard();
      },
    }));
    cluster.expose("log", log);
    const until = (fits: () => boolean): Promise<void> =>
      new Promise((resolve) => {
        heard = () => {
          if (fits()) resolve();
        };
      });
    const writer = Bun.spawn(
      [process.execPath, `${import.meta.dir}/programs/writer.ts`, url, name, "writer", String(lease)],
      {
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    children.push(writer);
    await writer.stdout.getReader().read(); // It is ready.
    const calling = await cluster.singleton("writer", Writer); // Only the writer serves it so far.
    const written = until(() => writes.length >= 5);
    const old = (await calling.ask("begin", LONG))._unsafeUnwrap();
    await written;
    const left = event(system, "left", ({ node }) => node === "writer");
    harm(writer);
    await left;
    // The next owner, as another node of this process.
    const next = createSystem({ hookTimeout: 60_000, logger: { warn() {}, error() {} } });
    const second = await connectCluster(next, { servers: url, name, node: "next", lease: 1_000 });
    const remote = second.remote("main", "log", Log);
    const taken = await second.singleton("writer", Writer, ({ epoch }) => () => ({
      begin() {
        remote.tell("write", { epoch, node: "next" });
        return epoch;
      },
    }));
    const began = until(() => writes.at(-1)?.node === "next");
    const epoch = (await taken.ask("begin", LONG))._unsafeUnwrap();
    await began;
    expect(epoch).toBeGreaterThan(old);
    const from = writes.length;
    const late = (): number => writes.slice(from).filter((each) => each.epoch === old).length;
    return { system, next, late, until, writer };
  }

  test("P17: what an owner still writes after its lease ended is refused, though it never notices", async () => {
    let refused = 0;
    const { promise: many, resolve } = Promise.withResolvers<void>();
    Nodes.prototype.admits = function (this: Nodes, incarnation) {
      const isAdmitted = admits.call(this, incarnation);
      if (!isAdmitted && ++refused === 20) resolve();
      return isAdmitted;
    };
    const { system, next, late } = await takeOver("fence-1", 60_000, () => undefined);
    await many;
    expect(late()).toBe(0);
    await next.shutdown();
    await system.shutdown();
  });

  test("without the fence, such writes appear", async () => {
    Nodes.prototype.admits = () => true;
    try {
      const { system, next, late, until } = await takeOver("fence-2", 60_000, () => undefined);
      await until(() => late() > 0);
      expect(late()).toBeGreaterThan(0);
      await next.shutdown();
      await system.shutdown();
    } finally {
      Nodes.prototype.admits = admits;
    }
  });

  test("an owner that was stopped and is woken writes nothing of its old epoch, and joins anew", async () => {
    const found = await takeOver("fence-3", 1_000, (writer) => writer.kill("SIGSTOP"));
    const rejoined = event(found.next, "joined", ({ node }) => node === "writer");
    found.writer.kill("SIGCONT");
    await rejoined;
    expect(found.late()).toBe(0);
    await found.next.shutdown();
    await found.system.shutdown();
  });

  test("an owner that is killed is followed by the next one", async () => {
    const { system, next, late } = await takeOver("fence-4", 1_000, (writer) => writer.kill("SIGKILL"));
    expect(late()).toBe(0);
    await next.shutdown();
    await system.shutdown();
  });
});
