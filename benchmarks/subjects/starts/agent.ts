import { createSystem } from "envoi";
import { AcpSession, serveAgent } from "envoi/acp";
import { channelPair } from "envoi/rpc";

const [here, there] = channelPair();
const system = createSystem();
serveAgent(system, there, {
  name: "agent",
  version: "1.0.0",
  sessions: { prefix: "sessions/", protocol: AcpSession },
});
const text = (text: string) => process.exit(JSON.parse(text).result?.protocolVersion === 1 ? 42 : 1);
here.open({ text, refused() {}, ended() {}, closed() {}, drained() {} }, { maxBytes: 4_194_304, clock: system.clock });
here.send(
  '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"fs":{}}}}',
);
