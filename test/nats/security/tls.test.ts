import { afterAll, describe, expect, test } from "bun:test";
import { createSystem } from "../../../src";
import { type ClusterOptions, connectCluster } from "../../../src/nats";
import { ids, node, Orders, spawnOrders } from "../durable/nodes";
import { hasNats, server } from "../rooms";
import { type Authority, hasOpenssl, makeAuthority } from "./certificates";

describe.skipIf(!hasNats || !hasOpenssl)("a cluster over TLS", () => {
  const authorityFor = (): Authority => {
    const { authority, remove } = makeAuthority();
    afterAll(remove);
    return authority;
  };
  const serverOf = (authority: Authority, more = "") => {
    const { certFile, keyFile } = authority.sign("server");
    const files = `cert_file: "${certFile}", key_file: "${keyFile}", ca_file: "${authority.certFile}"`;
    return server({ config: `tls { ${files}, timeout: 10${more} }` });
  };
  /** Long, because a handshake takes its time on a busy machine. */
  const OPTIONS = { connectTimeout: 5_000 };

  /** Sends a message from one node to another one, and from each to JetStream. */
  async function works(url: string, tls: NonNullable<ClusterOptions["tls"]>): Promise<void> {
    await using one = await node("node-1", url, { ...OPTIONS, tls });
    await using two = await node("node-2", url, { ...OPTIONS, tls });
    expect(one.cluster.members()).toContain("node-1");
    const stored = await one.cluster.durable("orders", Orders).tell("place", { id: "o-0" });
    expect(stored.isOk()).toBe(true);
    const actor = spawnOrders(two.system);
    await two.cluster.receiveDurable("orders", actor.ref);
    await actor.calls(1);
    expect(actor.handled.map(({ id }) => id)).toEqual([...ids(1)]);
  }

  /** The sentence by which a node is refused. */
  async function refusal(url: string, tls: ClusterOptions["tls"]): Promise<string> {
    await using system = createSystem({ logger: { warn() {}, error() {} } });
    const options = { servers: url, name: "shop", node: "node-1", ...OPTIONS, ...(tls !== undefined && { tls }) };
    return String(await connectCluster(system, options).catch((thrown) => thrown));
  }

  test("works with the authority of its servers, and another one is refused with what to do", async () => {
    const authority = authorityFor();
    const { url } = await serverOf(authority);
    await works(url, { ca: authority.cert });
    for (const tls of [{ ca: authorityFor().cert }, {}, undefined]) {
      expect(await refusal(url, tls)).toMatch(/certificate.*mend the option servers, credentials or tls/);
    }
  }, 60_000);

  test("works with a certificate of each node where the servers ask for one; a node without, or with a stranger's, is not let in", async () => {
    const authority = authorityFor();
    const { url } = await serverOf(authority, ", verify: true");
    const { cert, key } = authority.sign("node");
    await works(url, { ca: authority.cert, cert, key });
    const stranger = authorityFor().sign("stranger");
    for (const own of [{}, { cert: stranger.cert, key: stranger.key }]) {
      expect(await refusal(url, { ca: authority.cert, ...own })).toContain(
        "is not of its authority: see tls.cert and tls.key",
      );
    }
  }, 60_000);

  test("works where the servers begin with TLS", async () => {
    const authority = authorityFor();
    const { url } = await serverOf(authority, ", handshake_first: true");
    await works(url, { ca: authority.cert, first: true });
    expect(await refusal(url, { ca: authorityFor().cert, first: true })).toContain("tls");
  }, 60_000);

  test("is refused where the server has none", async () => {
    const { url } = await server();
    expect(await refusal(url, { ca: authorityFor().cert })).toContain("tls");
  }, 60_000);
});
