import { serveAgent } from "../../../src/acp/index";
import { createSystem, defineProtocol, Type } from "../../../src/index";
import { stdioChannel } from "../../../src/rpc/index";
import { resolveScenario, Scenario } from "../scenario-agent";

// The scenario's agent over stdio.

const Poet = defineProtocol("poet", {
  rhyme: {
    payload: Type.Object({ word: Type.String() }),
    reply: Type.Object({ rhyme: Type.String() }),
  },
});

const system = createSystem({
  logger: { error: (...line) => console.error(...line), warn: (...line) => console.error(...line) },
});
const poet = system.spawn("poet", Poet, () => ({ rhyme: ({ word }) => ({ rhyme: `sm${word}` }) }));
resolveScenario(system, "sessions/");
const { closed } = serveAgent(system, stdioChannel(), {
  name: "envoi-agent",
  version: "1.0.0",
  sessions: { prefix: "sessions/", protocol: Scenario },
  extensions: { serves: { "_poet/rhyme": { ref: poet, operation: "rhyme" } } },
});
await closed;
await system.shutdown();
