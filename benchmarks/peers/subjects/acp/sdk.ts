import { agent, client, type SessionUpdate } from "@agentclientprotocol/sdk";
import { longOf } from "../../../subjects/acp";
import type { AcpPeer, Decode } from "../../acp";
import { Lacks } from "../../room";
import { pair, streamOf } from "./stream";

const BEGIN = { jsonrpc: "2.0", id: "begin", method: "initialize", params: { protocolVersion: 1 } } as const;

export const open = (): AcpPeer => ({
  start: "subjects/acp/starts/sdk.ts",
  decode(level): Decode {
    if (level !== "full") throw new Lacks("it has no such level");
    let finish = (): void => {};
    let [handled, refused, left] = [0, 0, 0];
    const arrive = () => void (--left === 0 && finish());
    const one = streamOf(() => {});
    client({ name: "client" })
      .onNotification("session/update", () => {
        handled++;
        arrive();
      })
      .connect(one.stream);
    const other = streamOf((message) => {
      if ("error" in message && message.error.code === -32602) refused++;
      if ("id" in message && message.id !== BEGIN.id) arrive();
    });
    agent({ name: "agent" })
      .onRequest("initialize", () => ({ protocolVersion: 1 }))
      .onRequest("session/prompt", () => ({ stopReason: "end_turn" }))
      .connect(other.stream);
    other.take(BEGIN);
    return async (all, count) => {
      [handled, refused, left] = [0, 0, count];
      const { take } = all[0]?.includes("session/prompt") === true ? other : one;
      const done = new Promise<void>((resolve) => {
        finish = resolve;
      });
      for (let index = 0; index < count; index++) take(JSON.parse(all[index % all.length] ?? ""));
      await done;
      return handled + refused;
    };
  },
  async turn() {
    let [came, due] = [0, 0];
    const [here, there] = pair();
    agent({ name: "agent" })
      .onRequest("initialize", () => ({ protocolVersion: 1, agentCapabilities: {}, authMethods: [] }))
      .onRequest("session/new", () => ({ sessionId: "one" }))
      .onRequest("session/prompt", async ({ params: { sessionId }, client: to }) => {
        // As `longOf` makes them.
        for (let index = 0; index < due; index++)
          await to.notify("session/update", { sessionId, update: longOf(index) as SessionUpdate });
        return { stopReason: "end_turn" };
      })
      .connect(there);
    const { agent: to } = client({ name: "client" })
      .onNotification("session/update", () => void came++)
      .connect(here);
    await to.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
    const { sessionId } = await to.request("session/new", { cwd: "/", mcpServers: [] });
    return async (updates) => {
      [came, due] = [0, updates];
      await to.request("session/prompt", { sessionId, prompt: [] });
      return came;
    };
  },
});
