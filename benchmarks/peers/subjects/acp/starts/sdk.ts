import { agent } from "@agentclientprotocol/sdk";
import { streamOf } from "../stream";
import { INITIALIZE } from "./message";

const { stream, take } = streamOf((message) => process.exit("result" in message ? 42 : 1));
agent({ name: "agent" })
  .onRequest("initialize", () => ({ protocolVersion: 1, agentCapabilities: {}, authMethods: [] }))
  .connect(stream);
take(JSON.parse(INITIALIZE));
