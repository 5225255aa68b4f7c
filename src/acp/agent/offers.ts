import type { Protocols } from "../../rpc/index";
import { type AgentOperation, CLIENT_METHODS } from "../methods";
import type { AgentCapabilities, ClientCapabilities, InitializeResponse } from "../schema/types";
import type { AgentOptions } from "./options";
import type { AgentSignatures, SomeSession } from "./session";

// The operations that both sides offer each other. On the wire they are capabilities; here, operations and methods.

/** Tells whether an actor has an operation. */
type Has = (operation: string) => boolean;

/** The operations that an agent serves. A client that calls another one gets -32601. */
export function servedBy(session: Has, agent: Has, hasAuthMethods: boolean): readonly AgentOperation[] {
  const offers: Readonly<Record<AgentOperation, boolean>> = {
    initialize: true,
    newSession: true,
    prompt: true,
    cancel: true,
    authenticate: hasAuthMethods || agent("authenticate"),
    logout: agent("logout"),
    listSessions: agent("listSessions"),
    deleteSession: agent("deleteSession"),
    loadSession: session("load"),
    resumeSession: session("resume"),
    closeSession: session("close"),
    setMode: session("setMode"),
    setConfigOption: session("setConfigOption"),
  };
  // The keys are those of the type.
  return (Object.keys(offers) as AgentOperation[]).filter((operation) => offers[operation]);
}

/** The agent's description of itself in the response to `initialize`. */
export function aboutOf(
  options: Omit<AgentOptions<SomeSession, Partial<AgentSignatures>, Protocols>, "sessions" | "agent" | "extensions">,
  session: Has,
  agent: Has,
): Omit<InitializeResponse, "protocolVersion"> {
  const { name, version, title, authMethods = [], promptCapabilities, mcpCapabilities } = options;
  const agentCapabilities: AgentCapabilities = {
    loadSession: session("load"),
    ...(promptCapabilities !== undefined && { promptCapabilities }),
    ...(mcpCapabilities !== undefined && { mcpCapabilities }),
    sessionCapabilities: {
      ...(agent("listSessions") && { list: {} }),
      ...(agent("deleteSession") && { delete: {} }),
      ...(session("resume") && { resume: {} }),
      ...(session("close") && { close: {} }),
      ...(options.additionalDirectories === true && { additionalDirectories: {} }),
    },
    ...(agent("logout") && { auth: { logout: {} } }),
  };
  return { agentInfo: { name, version, ...(title !== undefined && { title }) }, agentCapabilities, authMethods };
}

const TERMINAL = [
  CLIENT_METHODS.createTerminal,
  CLIENT_METHODS.terminalOutput,
  CLIENT_METHODS.waitForTerminalExit,
  CLIENT_METHODS.killTerminal,
  CLIENT_METHODS.releaseTerminal,
];

/** The methods that a client has offered. */
export const offeredBy = ({ fs, terminal, elicitation }: ClientCapabilities): readonly string[] => [
  CLIENT_METHODS.update,
  CLIENT_METHODS.requestPermission,
  ...(fs?.readTextFile === true ? [CLIENT_METHODS.readTextFile] : []),
  ...(fs?.writeTextFile === true ? [CLIENT_METHODS.writeTextFile] : []),
  ...(terminal === true ? TERMINAL : []),
  ...(elicitation == null ? [] : [CLIENT_METHODS.createElicitation, CLIENT_METHODS.completeElicitation]),
];
