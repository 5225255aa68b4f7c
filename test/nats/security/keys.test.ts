import { describe, expect, test } from "bun:test";
import { nkeys } from "@nats-io/transport-node";
import { createSystem } from "../../../src";
import { connectCluster, type NatsCredentials } from "../../../src/nats";
import { node, Orders } from "../durable/nodes";
import { hasNats, server } from "../rooms";
import { makeOperator, seedOf } from "./keys";

describe.skipIf(!hasNats)("a cluster whose servers know keys", () => {
  async function works(url: string, credentials: NatsCredentials): Promise<void> {
    await using one = await node("node-1", url, { credentials });
    expect(one.cluster.members()).toEqual(["node-1"]);
    const stored = await one.cluster.durable("orders", Orders).tell("place", { id: "o-0" });
    expect(stored.isErr() ? stored.error.message : "stored").toBe("stored");
  }

  async function refusal(url: string, credentials: NatsCredentials): Promise<string> {
    await using system = createSystem({ logger: { warn() {}, error() {} } });
    const connecting = connectCluster(system, { servers: url, name: "shop", node: "node-1", credentials });
    return String(await connecting.catch((thrown) => thrown));
  }

  test("takes the seed of a key that the servers know, and says that another one is not let in", async () => {
    const pair = nkeys.createUser();
    const { url } = await server({ config: `authorization { users: [{ nkey: ${pair.getPublicKey()} }] }` });
    await works(url, { seed: seedOf(pair) });
    for (const credentials of [{ seed: seedOf(nkeys.createUser()) }, {}]) {
      expect(await refusal(url, credentials)).toMatch(/Authorization Violation.*credentials/i);
    }
    expect(await refusal(url, { seed: "no seed" })).toContain("credentials");
  });

  test("takes the text of a .creds file, and says that one of another account is not let in", async () => {
    const { config, credentials, strangers } = makeOperator();
    const { url } = await server({ config });
    await works(url, { creds: credentials() });
    for (const creds of [strangers(), makeOperator().credentials()]) {
      expect(await refusal(url, { creds })).toMatch(/Authorization Violation.*credentials/i);
    }
    expect(await refusal(url, { creds: "no credentials" })).toContain("credentials");
  });
});
