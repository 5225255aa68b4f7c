import { afterEach, describe, expect, test } from "bun:test";
import { createSystem, defineProtocol, Type } from "../../src";
import { connectCluster } from "../../src/nats";
import { Following } from "../../src/nats/following";
import { Members } from "../../src/nats/members";
import { event } from "./events";
import { hasNats, server } from "./rooms";

const Desk = defineProtocol("desk", { who: { reply: Type.String() } });
const LONG = { timeout: 20_000 };
const { isBehind } = Following.prototype;
const { join } = Members;

describe.skipIf(!hasNats)("a node that takes the buckets for lost", () => {
  afterEach(() => {
    Following.prototype.isBehind = isBehind;
    Members.join = join;
  });

  test("P17: though they are not, reads them anew, and reaches the nodes that it knew before", async () => {
    const { url } = await server();
    const members: Members[] = [];
    Members.join = async (...parts) => {
      const joined = await join.apply(Members, parts);
      members.push(joined);
      return joined;
    };
    const start = async (node: string) => {
      const system = createSystem({ logger: { warn() {}, error() {} } });
      const cluster = await connectCluster(system, { servers: url, name: "reread", node, lease: 1_000 });
      cluster.expose(
        "desk",
        system.spawn("desk", Desk, () => ({ who: () => node })),
      );
      return { system, remote: (at: string) => cluster.remote(at, "desk", Desk) };
    };
    const [a, b] = [await start("a"), await start("b")];
    /** Asks until there is an answer: what is sent just as a node joins anew may end as timeout. The test's timeout bounds it. */
    const who = async (from: typeof a, at: string): Promise<string> => {
      for (;;) {
        const answer = await from.remote(at).ask("who", LONG);
        if (answer.isOk()) return answer.value;
        await Bun.sleep(20);
      }
    };
    const check = async () => expect([await who(a, "b"), await who(b, "a")]).toEqual(["b", "a"]);
    await check();
    Following.prototype.isBehind = async () => true;
    const again = event(a.system, "joined", ({ node }) => node === "b");
    const heard = event(b.system, "joined", ({ node }) => node === "a");
    members[0]?.lose();
    await Promise.all([again, heard]);
    await check();
    await a.system.shutdown();
    await b.system.shutdown();
  }, 60_000);
});
