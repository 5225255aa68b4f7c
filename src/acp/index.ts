export type { AgentConnection, AgentOptions } from "./agent/options";
export { serveAgent } from "./agent/serve-agent";
export {
  AcpSession,
  type AgentSignatures,
  agentOperations,
  agentText,
  type Client,
  type Opening,
  type SessionSignatures,
  type SomeSession,
  sessionOperations,
  type Turn,
  turnEnd,
  type Workspace,
} from "./agent/session";
export { connectAgent } from "./client/connect-agent";
export { type AcpFilesOptions, spawnAcpFiles, type TextFiles } from "./client/files";
export type {
  AgentCommand,
  ClientConnection,
  ClientOptions,
  Connected,
  OpenedSession,
  OpenOptions,
  SessionRequest,
} from "./client/options";
export { RemoteSession, type RemoteSessionRef } from "./client/session";
export { type AcpTerminalsOptions, type CodeRunner, spawnAcpTerminals } from "./client/terminals";
export type { Limits } from "./connection";
export {
  AcpAgent,
  type AcpAgentRef,
  AcpClient,
  type AcpClientRef,
  AcpElicitation,
  AcpFiles,
  type AcpFilesRef,
  AcpPermission,
  AcpTerminals,
  type AcpTerminalsRef,
} from "./methods";
export { authRequired, invalidParams, invalidRequest, notFound } from "./refusals";
export type {
  AgentCapabilities,
  AuthMethod,
  AvailableCommand,
  ClientCapabilities,
  ContentBlock,
  Implementation,
  InitializeRequest,
  InitializeResponse,
  McpServer,
  Messages,
  Meta,
  PermissionOption,
  PlanEntry,
  PromptResponse,
  RequestPermissionRequest,
  RequestPermissionResponse,
  SessionConfigOption,
  SessionInfo,
  SessionModeState,
  SessionUpdate,
  StopReason,
  ToolCall,
  ToolCallContent,
  ToolCallUpdate,
} from "./schema/types";
