/** The rows of the suite nats: envoi's side and that of the bare client of each. Both speak to a process of their own, by one server on loopback. */
import type { NatsConnection } from "@nats-io/transport-node";
import { type AskResult, createSystem, type RefTo, type System } from "envoi";
import { type Cluster, connectCluster } from "envoi/nats";
import { counted, slowSteps } from "../harness/rows";
import { Completion, type Floor, type Prepared } from "../harness/suite";
import { Desk, type Order, order } from "./desk";
import { end, LONG, newName, program, SILENT, useServer } from "./nats/programs";

interface Side {
  readonly system: System;
  readonly cluster: Cluster;
  readonly url: string;
  readonly desk: RefTo<typeof Desk>;
  readonly end: () => Promise<void>;
}

/** A node in this process, and one in another that has the desk. */
async function open(): Promise<Side> {
  const { url, end: endServer } = await useServer();
  const name = newName("bench");
  const system = createSystem({ logger: SILENT, hookTimeout: 60_000 });
  const cluster = await connectCluster(system, { servers: url, name, node: "here" });
  const child = await program("node", url, name, "there");
  const desk = cluster.remote("there", "desk", Desk);
  const endAll = async (): Promise<void> => {
    await system.shutdown();
    await end(child);
    await endServer();
  };
  return { system, cluster, url, desk, end: endAll };
}

interface BareSide {
  readonly nc: NatsConnection;
  readonly end: () => Promise<void>;
}

async function openBare(): Promise<BareSide> {
  const { connect } = await import("@nats-io/transport-node");
  const { url, end: endServer } = await useServer();
  const child = await program("bare", url);
  const nc = await connect({ servers: url });
  const endAll = async (): Promise<void> => {
    await nc.close();
    await end(child);
    await endServer();
  };
  return { nc, end: endAll };
}

const close = ({ end }: { readonly end: () => Promise<void> }) => ({ teardown: end });
const isSame = (reply: AskResult<Order>, sent: Order): boolean => reply.isOk() && reply.value.at === sent.at;

// Asks

export async function asks(operations: number): Promise<Prepared> {
  const side = await open();
  return slowSteps(
    operations,
    async (index) => isSame(await side.desk.ask("say", order(index)), order(index)),
    close(side),
  );
}

export async function asksAtOnce(operations: number, width: number): Promise<Prepared> {
  const side = await open();
  return counted(async () => {
    let done = 0;
    for (let sent = 0; sent < operations; sent += width) {
      const replies = await Promise.all(Array.from({ length: width }, (_, i) => side.desk.ask("say", order(sent + i))));
      for (const [i, reply] of replies.entries()) if (isSame(reply, order(sent + i))) done++;
    }
    return done;
  }, close(side));
}

export const requests = (width: number): Floor => ({
  name: width === 1 ? "nc.request" : `nc.request, ${width} in flight`,
  about: `\`nc.request\` of the JSON of an order, which another process gives back as it is, and this one parses${width === 1 ? "" : `; ${width} at once, then the next ${width}`}`,
  async setup(operations) {
    const side = await openBare();
    const request = async (index: number): Promise<boolean> => {
      const sent = order(index);
      const message = await side.nc.request("bare.say", JSON.stringify(sent), { timeout: 5_000 });
      return message.json<Order>().at === sent.at;
    };
    if (width === 1) return slowSteps(operations, request, close(side));
    return counted(async () => {
      let done = 0;
      for (let sent = 0; sent < operations; sent += width) {
        const replies = await Promise.all(Array.from({ length: width }, (_, i) => request(sent + i)));
        done += replies.filter(Boolean).length;
      }
      return done;
    }, close(side));
  },
});

// Tells

/** The number that the other side has taken since the last time. */
function since(read: () => Promise<number>): () => Promise<number> {
  let before = 0;
  return async () => {
    const taken = await read();
    const done = taken - before;
    before = taken;
    return done;
  };
}

export async function tells(operations: number): Promise<Prepared> {
  const side = await open();
  const taken = since(async () => (await side.desk.ask("taken", LONG))._unsafeUnwrap());
  return counted(() => {
    for (let i = 0; i < operations; i++) side.desk.tell("take", order(i));
    return taken();
  }, close(side));
}

export const published: Floor = {
  name: "nc.publish",
  about:
    "`nc.publish` of the JSON of each, one by one, which another process parses; it says at the end how many they were",
  async setup(operations) {
    const side = await openBare();
    const taken = since(async () => Number((await side.nc.request("bare.taken", "", LONG)).string()));
    return counted(() => {
      for (let i = 0; i < operations; i++) side.nc.publish("bare.take", JSON.stringify(order(i)));
      return taken();
    }, close(side));
  },
};

// Streams

export async function items(operations: number, credit: number): Promise<Prepared> {
  const side = await open();
  return counted(async () => {
    let done = 0;
    for await (const item of side.desk.stream("list", operations, { credit })) if (item.at === order(done).at) done++;
    return done;
  }, close(side));
}

export const flood: Floor = {
  name: "nc.publish, a flood",
  about:
    "`nc.publish` of the JSON of each item by the other process, as fast as it can, which this one parses; nobody pushes back",
  async setup(operations) {
    const side = await openBare();
    const completion = new Completion();
    side.nc.subscribe("bare.items", {
      callback: (_, message) => {
        if (message.json<Order>().item.length > 0) completion.arrive();
      },
    });
    await side.nc.flush();
    const run = async () => {
      const done = completion.expect(operations);
      side.nc.publish("bare.list", String(operations));
      await done;
    };
    return { run, completed: completion.completed, ...close(side) };
  },
};

// Durable sends

export async function stored(operations: number): Promise<Prepared> {
  const side = await open();
  const durable = side.cluster.durable("archive", Desk);
  return counted(async () => {
    const all = await Promise.all(Array.from({ length: operations }, (_, i) => durable.tell("take", order(i))));
    return all.filter((result) => result.isOk() && !result.value.isDuplicate).length;
  }, close(side));
}

/** Durable sends that a handler of this node has handled, each once. */
export async function handled(operations: number): Promise<Prepared> {
  const side = await open();
  const completion = new Completion();
  const clerk = side.system.spawn("clerk", Desk, () => ({
    take: () => void completion.arrive(),
    ...{ say: (sent: Order) => sent, taken: () => 0, *list() {}, exit() {} },
  }));
  await side.cluster.receiveDurable("archive", clerk);
  const durable = side.cluster.durable("archive", Desk);
  const run = async () => {
    const done = completion.expect(operations);
    const all = await Promise.all(Array.from({ length: operations }, (_, i) => durable.tell("take", order(i))));
    if (!all.every((result) => result.isOk())) throw new Error("a durable send was not stored");
    await done;
  };
  return { run, completed: completion.completed, ...close(side) };
}

async function openStream() {
  const { jetstreamManager } = await import("@nats-io/jetstream");
  const side = await openBare();
  const jsm = await jetstreamManager(side.nc);
  const name = newName("bare");
  await jsm.streams.add({ name, subjects: [`${name}.take`] });
  return { side, jsm, js: jsm.jetstream(), name, subject: `${name}.take` };
}

export const storedBare: Floor = {
  name: "js.publish",
  about:
    "`js.publish` of the JSON of each, all at once, each with a name against duplicates; awaited with `Promise.all`",
  async setup(operations) {
    const { side, js, subject } = await openStream();
    let names = 0;
    const publish = async (index: number): Promise<boolean> => {
      const { duplicate } = await js.publish(subject, JSON.stringify(order(index)), { msgID: `m-${names++}` });
      return !duplicate;
    };
    return counted(async () => {
      const all = await Promise.all(Array.from({ length: operations }, (_, i) => publish(i)));
      return all.filter(Boolean).length;
    }, close(side));
  },
};

export const handledBare: Floor = {
  name: "js.publish, consumed",
  about: "the same, and a consumer of this process that parses each, and acknowledges it",
  async setup(operations) {
    const { side, js, jsm, name, subject } = await openStream();
    const { AckPolicy } = await import("@nats-io/jetstream");
    await jsm.consumers.add(name, { durable_name: "clerk", ack_policy: AckPolicy.Explicit, max_ack_pending: -1 });
    const consumer = await js.consumers.get(name, "clerk");
    const completion = new Completion();
    const messages = await consumer.consume({
      max_messages: 1_000,
      callback: (message) => {
        if (message.json<Order>().quantity === 12) completion.arrive();
        message.ack();
      },
    });
    let names = 0;
    const run = async () => {
      const done = completion.expect(operations);
      const one = (index: number) => js.publish(subject, JSON.stringify(order(index)), { msgID: `m-${names++}` });
      await Promise.all(Array.from({ length: operations }, (_, i) => one(i)));
      await done;
    };
    const teardown = async () => {
      await messages.close();
      await side.end();
    };
    return { run, completed: completion.completed, teardown };
  },
};
