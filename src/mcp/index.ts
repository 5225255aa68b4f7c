export { connectMcp } from "./client/connect-mcp";
export type { ConnectMcpOptions, McpTools, RemoteLimits } from "./client/options";
export { type RemoteReply, type RemoteSignatures, ToolError } from "./client/remote-signatures";
export { Content, ContentBlock, PromptReply } from "./content";
export type {
  McpAuthenticate,
  McpCaller,
  McpConnection,
  McpExposing,
  McpFiles,
  McpLimits,
  McpPrompt,
  McpServing,
  ServeMcpOptions,
  ToolOperations,
  ToolOptions,
} from "./options";
export { serveMcp } from "./serve-mcp";
