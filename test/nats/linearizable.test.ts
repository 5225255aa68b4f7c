import { afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSystem } from "../../src";
import { connectCluster } from "../../src/nats";
import { checkLinearizable, counter } from "../linearizable/linearizable";
import { event } from "./events";
import { threeServers } from "./faults/three-servers";
import { callOn, historyOf, KEYS } from "./programs/counting";
import { Counter, Store } from "./programs/protocols";
import { hasNats, server } from "./rooms";

const children: Bun.Subprocess[] = [];
const folders: string[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) {
    child.kill("SIGKILL");
    await child.exited;
  }
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

describe.skipIf(!hasNats)("counters over the cluster", async () => {
  const { url } = hasNats ? await server() : { url: "" };

  /** Calls counters from four processes, and gives what harms them, and what the checker says at the end. */
  async function calling(name: string, servers: readonly string[], variant: "fenced" | "broken") {
    const folder = mkdtempSync(join(tmpdir(), "envoi-counters-"));
    folders.push(folder);
    const files: string[] = [];
    const file = (node: string): string => {
      files.push(join(folder, node));
      return join(folder, node);
    };
    const replicas = servers.length === 3 ? 3 : 1;
    const system = createSystem({ hookTimeout: 60_000, logger: { warn() {}, error() {} } });
    const cluster = await connectCluster(system, { servers, name, node: "main", lease: 1_000, replicas });

    const counts = new Map<string, { readonly epoch: number; readonly count: number }>();
    const writes: { readonly id: string; readonly node: string }[] = [];
    /** The nodes that wrote for an id at an epoch. */
    const owners = new Map<string, Set<string>>();
    let refused = 0;
    let heard = (): void => undefined;
    const store = system.spawn("store", Store, () => ({
      open({ id, epoch }) {
        const { epoch: last = 0, count = 0 } = counts.get(id) ?? {};
        counts.set(id, { epoch: Math.max(epoch, last), count });
        return count;
      },
      write({ id, epoch, node, count }) {
        if (epoch < (counts.get(id)?.epoch ?? 0)) {
          refused++;
          heard();
          return false;
        }
        counts.set(id, { epoch, count });
        writes.push({ id, node });
        owners.set(`${id} ${epoch}`, (owners.get(`${id} ${epoch}`) ?? new Set()).add(node));
        heard();
        return true;
      },
    }));
    cluster.expose("store", store);
    /** Resolves once the writes from now on are such. */
    const until = async (fits: (news: readonly { readonly id: string; readonly node: string }[]) => boolean) => {
      const from = writes.length;
      while (!fits(writes.slice(from))) {
        await new Promise<void>((resolve) => {
          heard = resolve;
        });
      }
    };
    const start = async (node: string): Promise<Bun.Subprocess<"pipe", "pipe", "inherit">> => {
      const program = join(import.meta.dir, "programs", "counter-node.ts");
      const child = Bun.spawn(
        [process.execPath, program, servers.join(), name, node, file(node), `${replicas}`, variant],
        {
          stdio: ["pipe", "pipe", "inherit"],
        },
      );
      children.push(child);
      await child.stdout.getReader().read(); // It is ready.
      return child;
    };
    const left = (gone: string) => event(system, "left", ({ node }) => node === gone);

    const nodes = await Promise.all(["a", "b", "c"].map(start));
    const [a, b] = nodes as [(typeof nodes)[0], (typeof nodes)[0]]; // There are three.
    const counters = await cluster.sharded("counter", Counter);
    let isOver = false;
    const callers = [0, 1].map((caller) =>
      callOn(file(`main-${caller}`), `main-${caller}`, counters.ref, () => isOver),
    );
    const writesBy = (...wanted: readonly string[]) =>
      until((news) => wanted.every((each) => news.filter(({ node }) => node === each).length >= 10));
    const writesToAll = () => until((news) => KEYS.every((key) => news.filter(({ id }) => id === key).length >= 3));
    await writesBy("a", "b", "c");
    const refusal = async (alive: typeof nodes) => {
      isOver = true;
      for (const { stdin } of alive) stdin.end();
      await Promise.all([...callers, ...alive.map(({ exited }) => exited)]);
      await system.shutdown();
      expect([...owners].filter(([, names]) => names.size > 1)).toEqual([]);
      const history = historyOf(files);
      expect(history.length).toBeGreaterThan(writes.length);
      return checkLinearizable(counter, history);
    };
    const refusedWrites = (count: number) => until(() => refused >= count);
    return { system, nodes, a, b, left, writesBy, writesToAll, refusedWrites, refusal };
  }

  /** An owner is killed, and another one is stopped beyond its lease and woken. */
  async function refusalOf(name: string, variant: "fenced" | "broken") {
    const found = await calling(name, [url], variant);
    const { system, nodes, a, b, left, writesBy, writesToAll } = found;
    const killed = left("a");
    a.kill("SIGKILL");
    await killed;
    await writesToAll();
    await writesBy("b", "c");
    const stopped = left("b");
    b.kill("SIGSTOP");
    await stopped;
    await writesToAll();
    b.kill("SIGCONT");
    await event(system, "joined", ({ node }) => node === "b");
    if (variant === "fenced") {
      await writesBy("b", "c");
      await writesToAll();
    } else await found.refusedWrites(20); // Its actors are asked again, about as often to read as to add.
    return await found.refusal(nodes.slice(1));
  }

  test("answer as one counter each would, while an owner is killed and another one is stopped and woken", async () => {
    expect(await refusalOf("counters-1", "fenced")).toBeNull();
  });

  test("broken variant: without the fence, the checker finds answers from the memory of a former owner", async () => {
    expect(await refusalOf("counters-2", "broken")).not.toBeNull();
  });

  test("answer so while the servers that lead their owners are killed, and in the long form stopped: nothing hangs, and no epoch has two owners", async () => {
    const { urls, leader } = await threeServers("KV_ENVOI_counters-3_owners");
    const { nodes, writesToAll, refusal } = await calling("counters-3", urls, "fenced");
    const killed = await leader();
    await killed.kill();
    await leader(); // Another one leads.
    await writesToAll();
    await killed.restart();
    if (process.env["ENVOI_LONG"] !== undefined) {
      const paused = await leader();
      paused.pause();
      await writesToAll();
      paused.resume();
    }
    await writesToAll();
    expect(await refusal(nodes)).toBeNull();
  }, 120_000);
});
