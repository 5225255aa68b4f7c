import { afterAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { ids, node, Orders, spawnOrders } from "../durable/nodes";
import { hasNats, server } from "../rooms";
import { asNumbered, checkDeliveries, type DeliveryEvent, type Numbered, sentAll } from "./deliveries";
import { threeServers } from "./three-servers";

/** True for the long forms. */
const isLong = process.env["ENVOI_LONG"] !== undefined;
/** Long enough for a cluster on a busy machine; no assertion. */
const WITHIN = isLong ? 600_000 : 90_000;

/** Sends numbered messages one behind the other, and notes what happens to them. */
class Load {
  readonly events: DeliveryEvent[] = [];
  #isOver = false;
  readonly #waiting: { readonly holds: () => boolean; readonly resolve: () => void }[] = [];

  note(event: DeliveryEvent): void {
    this.events.push(event);
    for (const { resolve } of this.#waiting.filter(({ holds }) => holds())) resolve();
  }

  count(kind: DeliveryEvent["kind"]): number {
    return this.events.reduce((count, event) => count + (event.kind === kind ? 1 : 0), 0);
  }

  until(holds: () => boolean): Promise<void> {
    if (holds()) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.push({ holds, resolve });
    });
  }

  /** Resolves once so many more messages were acknowledged. */
  acknowledged(more: number): Promise<void> {
    const wanted = this.count("acknowledged") + more;
    return this.until(() => this.count("acknowledged") >= wanted);
  }

  /** Sends in the order of the numbers, with up to 20 on their way, until it is stopped. */
  async run(sender: string, send: (id: string) => Promise<boolean>): Promise<void> {
    const underWay = new Set<Promise<void>>();
    for (let number = 1; !this.#isOver; number++) {
      const message = { sender, receiver: "orders", number };
      this.note({ kind: "sent", ...message });
      const sending = send(`${sender}:${number}`).then((isStored) => {
        underWay.delete(sending);
        if (isStored) this.note({ kind: "acknowledged", ...message });
      });
      underWay.add(sending);
      if (underWay.size === 20) await Promise.race(underWay);
    }
    await Promise.all(underWay);
  }

  stop(): void {
    this.#isOver = true;
  }

  /** Resolves once each acknowledged message was handled, or the load has been handled up to a last one. */
  async handled(): Promise<void> {
    const open = () => {
      const handled = new Set(
        this.events.filter(({ kind }) => kind === "handled").map(({ sender, number }) => `${sender}:${number}`),
      );
      return this.events.some(
        ({ kind, sender, number }) => kind === "acknowledged" && !handled.has(`${sender}:${number}`),
      );
    };
    while (open()) await new Promise<void>((resolve) => this.#waiting.push({ holds: () => true, resolve }));
  }
}

const numbered = (id: string): Numbered => {
  const [sender = "", number = ""] = id.split(":");
  return { sender, receiver: "orders", number: Number(number) };
};

describe.skipIf(!hasNats)("durable messages over three servers", () => {
  const troubles = isLong ? ["kill", "pause", "kill", "pause", "kill", "pause", "kill"] : ["kill", "pause"];

  test(
    "none that was acknowledged is lost, out of order or repeated unmarked, while leaders are killed and stopped",
    async () => {
      const { urls, leader } = await threeServers("ENVOI_shop_durable");
      const load = new Load();
      await using one = await node("node-1", urls, { replicas: 3 });
      await using two = await node("node-2", urls, { replicas: 3 });
      await using three = await node("node-3", urls, { replicas: 3 });
      const { ref } = spawnOrders(three.system, ({ id }, { mayRepeat }) =>
        load.note({ kind: "handled", isMarked: mayRepeat, ...numbered(id) }),
      );
      await three.cluster.receiveDurable("orders", ref, { ackWait: 1_000 });
      const sendBy = ({ cluster }: typeof one) => {
        const orders = cluster.durable("orders", Orders, { level: "replicated" });
        return async (id: string) => (await orders.tell("place", { id }, { timeout: 60_000 })).isOk();
      };
      const running = [load.run("a", sendBy(one)), load.run("b", sendBy(two))];
      await load.acknowledged(200);
      for (const trouble of troubles) {
        const troubled = await leader();
        if (trouble === "kill") await troubled.kill();
        else troubled.pause();
        await load.acknowledged(200); // Another one leads.
        if (trouble === "kill") await troubled.restart();
        else troubled.resume();
        await load.acknowledged(200);
      }
      load.stop();
      await Promise.all(running);
      await load.handled();
      expect(checkDeliveries(load.events)).toEqual([]);
      expect(load.count("acknowledged")).toBeGreaterThan(200 * (1 + 2 * troubles.length) - 1);
    },
    WITHIN,
  );
});

/** A node in a process of its own. */
function startReceiver(url: string, name: string, crashAt = "", pauseAt = "") {
  const program = join(import.meta.dir, "receiver-program.ts");
  const child = Bun.spawn([process.execPath, program, url, name, crashAt, pauseAt], {
    stdout: "pipe",
    stderr: "inherit",
  });
  const lines: { readonly id: string; readonly mayRepeat?: boolean }[] = [];
  let changed = Promise.withResolvers<void>();
  const read = async (): Promise<void> => {
    let rest = "";
    for await (const chunk of child.stdout) {
      const parts = (rest + new TextDecoder().decode(chunk)).split("\n");
      rest = parts.pop() ?? "";
      lines.push(...parts.map((line) => JSON.parse(line)));
      changed.resolve();
      changed = Promise.withResolvers<void>();
    }
  };
  const ended = read();
  const end = async (): Promise<void> => {
    child.kill("SIGKILL");
    await child.exited;
    await ended;
  };
  afterAll(end);
  /** Resolves once its handler was called for a message. */
  const called = async (id: string): Promise<void> => {
    while (!lines.some((line) => line.id === id)) await changed.promise;
  };
  return { child, lines, called, end, ended };
}

const orderIds = ({ lines }: ReturnType<typeof startReceiver>): readonly string[] =>
  lines.map(({ id }) => id).filter((id) => id.startsWith("o-"));

describe.skipIf(!hasNats)("a node that goes", () => {
  test(
    "by kill -9 in a handler: what it held is delivered again, in order, and marked; then less than that is marked",
    async () => {
      const { url } = await server();
      await using one = await node("node-1", url);
      const orders = one.cluster.durable("orders", Orders);
      await Promise.all(ids(10).map((id) => orders.tell("place", { id })));
      const first = startReceiver(url, "node-2", "o-4");
      await first.child.exited;
      await first.ended;
      const second = startReceiver(url, "node-3", "o-6");
      await second.child.exited;
      await second.ended;
      const third = startReceiver(url, "node-4");
      await third.called("o-9");
      const handledBy = ({ lines }: typeof first) => lines.filter(({ id }) => id !== "ready");
      expect(handledBy(first).map(({ id }) => id)).toEqual([...ids(5)]);
      expect(handledBy(second)).toEqual(ids(7).map((id) => ({ id, mayRepeat: true }))); // It is not known which were handled.
      expect(handledBy(third).map(({ id }) => id)).toEqual([...ids(4, 6)]); // By then it is.
      const events: DeliveryEvent[] = [first, second, third].flatMap((each) =>
        handledBy(each).map(({ id, mayRepeat = false }) => ({
          kind: "handled",
          isMarked: mayRepeat,
          ...asNumbered(id),
        })),
      );
      const sent = sentAll(ids(10));
      expect(checkDeliveries([...sent, ...events])).toEqual([]);
      // Without the marks, the checker finds the repeats: the test above can fail.
      const unmarked = events.map(
        (event): DeliveryEvent => (event.kind === "handled" ? { ...event, isMarked: false } : event),
      );
      expect(checkDeliveries([...sent, ...unmarked]).map(({ fault }) => fault)).toContain("unmarked repeat");
      await third.end();
    },
    WITHIN,
  );

  test(
    "each time that it handles a message: the message becomes a dead letter, and the next one is handled",
    async () => {
      const { url } = await server();
      await using one = await node("node-1", url);
      const orders = one.cluster.durable("orders", Orders);
      await Promise.all(ids(3).map((id) => orders.tell("place", { id })));
      let runs = 0;
      for (; (await one.cluster.deadLetters("orders")).length === 0; runs++) {
        const next = startReceiver(url, `node-2-${runs}`, "o-1"); // By another name, as one of its own would wait for its lease.
        await Promise.race([next.child.exited, next.called("o-2")]);
        await next.end();
      }
      expect(await one.cluster.deadLetters("orders")).toMatchObject([{ payload: { id: "o-1" }, attempts: 5 }]);
      expect(runs).toBe(7); // One that nobody counted, five that were, and the one that gives it up.
    },
    WITHIN,
  );

  test(
    "by SIGSTOP in a handler, and comes back: another one has its messages, marked, and it handles none of them any more",
    async () => {
      const { url } = await server();
      await using one = await node("node-1", url);
      const orders = one.cluster.durable("orders", Orders);
      const stopped = startReceiver(url, "node-2", "", "o-1");
      await stopped.called("ready");
      await Promise.all(ids(5).map((id) => orders.tell("place", { id })));
      await stopped.called("o-1");
      const other = startReceiver(url, "node-3");
      await other.called("o-4");
      await orders.tell("place", { id: "next" });
      await other.called("next"); // The batch before it is acknowledged by now.
      await other.end();
      stopped.child.kill("SIGCONT");
      await orders.tell("place", { id: "last" });
      await stopped.called("last");
      expect(orderIds(stopped)).toEqual(["o-0", "o-1"]);
      const marked = other.lines.filter(({ id }) => id.startsWith("o-"));
      expect(marked).toEqual(ids(5).map((id) => ({ id, mayRepeat: true })));
      await stopped.end();
    },
    WITHIN,
  );

  test(
    "by SIGSTOP beyond its time, and comes back: another one has its messages, and it handles none of them any more",
    async () => {
      const { url } = await server();
      await using one = await node("node-1", url);
      const orders = one.cluster.durable("orders", Orders);
      const stopped = startReceiver(url, "node-2");
      await stopped.called("ready");
      stopped.child.kill("SIGSTOP");
      await Promise.all(ids(5).map((id) => orders.tell("place", { id })));
      const other = startReceiver(url, "node-3");
      await other.called("o-4");
      await orders.tell("place", { id: "next" });
      await other.called("next"); // The batch before it is acknowledged by now.
      await other.end();
      stopped.child.kill("SIGCONT");
      await orders.tell("place", { id: "last" });
      await stopped.called("last");
      expect(orderIds(stopped)).toEqual([]); // They had been delivered to it first.
      expect(orderIds(other)).toEqual([...ids(5)]);
      await stopped.end();
    },
    WITHIN,
  );
});
