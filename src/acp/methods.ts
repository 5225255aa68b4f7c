import { defineProtocol, type RefTo, type SignaturesOf } from "../index";
import { messageSchema as message, replySchema as reply } from "./schema/message-schema";

/**
 * The operations of an agent, by version 1 of the protocol (https://agentclientprotocol.com/protocol/v1). Version 2 is a draft, and not
 * spoken yet.
 *
 * Timeouts are those of any ask, 5 s by default: a prompt lasts as long as its turn, so give it `{ timeout: Infinity }`.
 */
export const AcpAgent = defineProtocol("acp.agent", {
  initialize: { payload: message("InitializeRequest"), reply: reply("InitializeResponse") },
  authenticate: { payload: message("AuthenticateRequest"), reply: reply("AuthenticateResponse") },
  logout: { payload: message("LogoutRequest"), reply: reply("LogoutResponse") },
  newSession: { payload: message("NewSessionRequest"), reply: reply("NewSessionResponse") },
  loadSession: { payload: message("LoadSessionRequest"), reply: reply("LoadSessionResponse") },
  resumeSession: { payload: message("ResumeSessionRequest"), reply: reply("ResumeSessionResponse") },
  listSessions: { payload: message("ListSessionsRequest"), reply: reply("ListSessionsResponse") },
  closeSession: { payload: message("CloseSessionRequest"), reply: reply("CloseSessionResponse") },
  deleteSession: { payload: message("DeleteSessionRequest"), reply: reply("DeleteSessionResponse") },
  setMode: { payload: message("SetSessionModeRequest"), reply: reply("SetSessionModeResponse") },
  setConfigOption: {
    payload: message("SetSessionConfigOptionRequest"),
    reply: reply("SetSessionConfigOptionResponse"),
  },
  prompt: { payload: message("PromptRequest"), reply: reply("PromptResponse") },
  /** Ends the turns of a session: their prompts are answered with `cancelled`. */
  cancel: { payload: message("CancelNotification") },
});

/** The method of each operation of `AcpAgent`. */
export const AGENT_METHODS = {
  initialize: "initialize",
  authenticate: "authenticate",
  logout: "logout",
  newSession: "session/new",
  loadSession: "session/load",
  resumeSession: "session/resume",
  listSessions: "session/list",
  closeSession: "session/close",
  deleteSession: "session/delete",
  setMode: "session/set_mode",
  setConfigOption: "session/set_config_option",
  prompt: "session/prompt",
  cancel: "session/cancel",
} as const satisfies Readonly<Record<AgentOperation, string>>;

/** The name of an operation of `AcpAgent`. */
export type AgentOperation = keyof SignaturesOf<typeof AcpAgent>;

const files = {
  /** Reads a text file, including unsaved changes in the editor. The path is absolute. */
  readTextFile: { payload: message("ReadTextFileRequest"), reply: reply("ReadTextFileResponse") },
  /** Writes a text file, and makes it if there is none. */
  writeTextFile: { payload: message("WriteTextFileRequest"), reply: reply("WriteTextFileResponse") },
};

const terminals = {
  createTerminal: { payload: message("CreateTerminalRequest"), reply: reply("CreateTerminalResponse") },
  terminalOutput: { payload: message("TerminalOutputRequest"), reply: reply("TerminalOutputResponse") },
  waitForTerminalExit: { payload: message("WaitForTerminalExitRequest"), reply: reply("WaitForTerminalExitResponse") },
  killTerminal: { payload: message("KillTerminalRequest"), reply: reply("KillTerminalResponse") },
  releaseTerminal: { payload: message("ReleaseTerminalRequest"), reply: reply("ReleaseTerminalResponse") },
};

const permission = {
  /** Asks the user whether a tool may run. A person answers it, so give it `{ timeout: Infinity }`. */
  requestPermission: { payload: message("RequestPermissionRequest"), reply: reply("RequestPermissionResponse") },
};

const elicitation = {
  /** Asks the user for input, by a form or at a URL. */
  createElicitation: { payload: message("CreateElicitationRequest"), reply: reply("CreateElicitationResponse") },
  completeElicitation: { payload: message("CompleteElicitationNotification") },
};

/** The file system of a client. */
export const AcpFiles = defineProtocol("acp.files", files);
/** The terminals of a client. */
export const AcpTerminals = defineProtocol("acp.terminals", terminals);
/** The user of a client, who permits tools. */
export const AcpPermission = defineProtocol("acp.permission", permission);
/** The user of a client, who gives input. */
export const AcpElicitation = defineProtocol("acp.elicitation", elicitation);

/** The operations of a client. */
export const CLIENT_OPERATIONS = {
  /** Reports an update of a session, within a turn or outside of one. */
  update: { payload: message("SessionNotification") },
  ...permission,
  ...files,
  ...terminals,
  ...elicitation,
};

/** The operations of a client, as its agent calls them. */
export const AcpClient = defineProtocol("acp.client", CLIENT_OPERATIONS);

/** The name of an operation of `AcpClient`. */
export type ClientOperation = keyof SignaturesOf<typeof AcpClient>;

/** The method of each operation of `AcpClient`. */
export const CLIENT_METHODS = {
  update: "session/update",
  requestPermission: "session/request_permission",
  readTextFile: "fs/read_text_file",
  writeTextFile: "fs/write_text_file",
  createTerminal: "terminal/create",
  terminalOutput: "terminal/output",
  waitForTerminalExit: "terminal/wait_for_exit",
  killTerminal: "terminal/kill",
  releaseTerminal: "terminal/release",
  createElicitation: "elicitation/create",
  completeElicitation: "elicitation/complete",
} as const satisfies Readonly<Record<ClientOperation, string>>;

/** The notification by which either side cancels a request. */
export const CANCEL_REQUEST = "$/cancel_request";

/** The version of the protocol that is spoken. */
export const PROTOCOL_VERSION = 1;

/** A reference to a client, as its agent sees it. */
export type AcpClientRef = RefTo<typeof AcpClient>;
/** A reference to an agent, as its client sees it. */
export type AcpAgentRef = RefTo<typeof AcpAgent>;
/** A reference to the files of a client. */
export type AcpFilesRef = RefTo<typeof AcpFiles>;
/** A reference to the terminals of a client. */
export type AcpTerminalsRef = RefTo<typeof AcpTerminals>;
