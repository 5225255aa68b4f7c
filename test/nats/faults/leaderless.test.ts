import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { jetstreamManager } from "@nats-io/jetstream";
import type { KV } from "@nats-io/kv";
import { connect } from "@nats-io/transport-node";
import { createSystem } from "../../../src";
import { connectCluster } from "../../../src/nats";
import { openConnection } from "../../../src/nats/connect";
import { Following } from "../../../src/nats/following";
import { event } from "../events";
import { Counter } from "../programs/protocols";
import { hasNats, server } from "../rooms";

const quiet = { hookTimeout: 50_000, logger: { warn() {}, error() {} } };

describe.skipIf(!hasNats)("while JetStream has no leader", async () => {
  const { url } = hasNats ? await server() : { url: "" };

  test("the claims of shards that nobody answers are made again, though no node joins or leaves", async () => {
    const system = createSystem(quiet);
    const cluster = await connectCluster(system, { servers: url, name: "leaderless-1", node: "a" });
    const one = () => () => ({ add: (added: number) => added });
    await cluster.sharded("first", Counter, one);
    const stranger = await connect({ servers: url });
    const jsm = await jetstreamManager(stranger);
    const bucket = "KV_ENVOI_leaderless-1_owners";
    const { config } = await jsm.streams.info(bucket);
    // The stream hears none of its writes, as one whose leader is stopped, and its writers wait in vain.
    await jsm.streams.update(bucket, { ...config, subjects: ["elsewhere"] });
    const lost = new Set<string>();
    const all = Promise.withResolvers<void>();
    const listening = stranger.subscribe("$KV.ENVOI_leaderless-1_owners.second.*", {
      callback: (_, { subject }) => {
        if (lost.add(subject).size === 64) all.resolve();
      },
    });
    await stranger.flush();
    const counters = await cluster.sharded("second", Counter, one);
    await all.promise;
    listening.unsubscribe();
    await jsm.streams.update(bucket, config);
    expect((await counters.ref("k0").ask("add", 3, { timeout: 60_000 }))._unsafeUnwrap()).toBe(3);
    await stranger.close();
    await system.shutdown();
  }, 60_000);

  test("a watch that is deaf is begun anew until it begins, however often that fails", async () => {
    const system = createSystem(quiet);
    const connection = await openConnection(system, { servers: url, name: "leaderless-2", node: "a", lease: 500 });
    const bucket = await connection.bucket("the test", "some", {});
    await bucket.put("one", "1");
    let failures = 0;
    const failing = new Proxy<KV>(bucket, {
      get(target, name) {
        if (name === "watch" && failures > 0) {
          return async () => {
            failures--;
            throw new Error("nobody answers");
          };
        }
        const value = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    const heard: string[] = [];
    const two = Promise.withResolvers<void>();
    const hear = ({ key }: { readonly key: string }): void => {
      heard.push(key);
      if (key === "two") two.resolve();
    };
    const following = await Following.begin(connection, failing, {
      hear,
      ended: () => undefined,
      lost: () => undefined,
    });
    const stranger = await connect({ servers: url });
    const jsm = await jetstreamManager(stranger);
    const stream = "KV_ENVOI_leaderless-2_some";
    failures = 5;
    for await (const { name } of jsm.consumers.list(stream)) await jsm.consumers.delete(stream, name);
    await bucket.put("two", "2");
    await two.promise;
    expect(failures).toBe(0);
    expect(heard).toEqual(["one", "two"]);
    following.stop();
    await stranger.close();
    await connection.close();
  }, 60_000);

  test("a node whose end nobody told is found to have left, once a watch has missed revisions", async () => {
    const system = createSystem(quiet);
    const cluster = await connectCluster(system, { servers: url, name: "leaderless-3", node: "a", lease: 1_000 });
    const program = join(import.meta.dir, "..", "programs", "writer.ts");
    const child = Bun.spawn([process.execPath, program, url, "leaderless-3", "b", "1000"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await child.stdout.getReader().read(); // It is ready.
    const left = event(system, "left", ({ node }) => node === "b");
    const stranger = await connect({ servers: url });
    const jsm = await jetstreamManager(stranger);
    const stream = "KV_ENVOI_leaderless-3_members";
    // The watch goes deaf, as behind a server that is gone, and the end of the node leaves no marker, as with a new leader.
    for await (const { name } of jsm.consumers.list(stream)) await jsm.consumers.delete(stream, name);
    child.kill("SIGKILL");
    await child.exited;
    await jsm.streams.purge(stream, { filter: "$KV.ENVOI_leaderless-3_members.b" });
    await left;
    expect(cluster.members()).toEqual(["a"]);
    await stranger.close();
    await system.shutdown();
  }, 60_000);
});
