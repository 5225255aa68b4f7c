import { checkOptions, type OptionCheck, type OptionChecks, option, type Protocol, type Ref } from "../../index";
import { isObject } from "../rooted";
import type { RemoteSignatures } from "./remote-signatures";

/** The bounds of another server's messages. */
export interface RemoteLimits {
  /** Most tools. Further ones are left out, and logged. Default: 1,000. */
  readonly tools: number;
  /** Most bytes of a tool's schemas and description, as JSON. A tool with more is left out, and logged. Default: 65,536. */
  readonly definition: number;
  /** Most bytes of one message. Default: 10,485,760. */
  readonly message: number;
}

/** The options that all connections have. */
interface Common {
  /** The local name of the server. Its actor has the address `@(mcp/NAME/tools)`. */
  readonly name: string;
  /** Milliseconds in which a connection must stand. Default: 30,000. */
  readonly connectTimeout?: number;
  /** Most milliseconds that a call may take; a shorter timeout of its asker holds. Default: 60,000. */
  readonly timeout?: number;
  /** Most calls that the server is sent at once. Further ones wait. Default: 64. */
  readonly concurrency?: number;
  /** Most calls that wait, also while there is no connection. Further ones fail as `mailbox-full`. Default: 1,000. */
  readonly capacity?: number;
  /** The bounds of the server's messages. Default: those of `RemoteLimits`. */
  readonly limits?: Partial<RemoteLimits>;
}

/** A server that is a program on this machine. */
interface Program extends Common {
  /** The program and its arguments. It is started without a shell. */
  readonly command: readonly [program: string, ...args: string[]];
  /** Variables for the program. Of this process's own, only `HOME`, `PATH` and the like are passed on. Default: none. */
  readonly env?: Readonly<Record<string, string>>;
  /** Its working directory. Default: that of this process. */
  readonly cwd?: string;
  /** The target of its stderr. Default: `"inherit"`, this process's own stderr. */
  readonly stderr?: "inherit" | "ignore";
  readonly url?: never;
  readonly headers?: never;
}

/** A server that is reached over HTTP. */
interface Remote extends Common {
  /** The place of its endpoint, such as `https://mcp.example.com/mcp`. */
  readonly url: string | URL;
  /** Headers of each request, such as `authorization`. Default: none. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly command?: never;
  readonly env?: never;
  readonly cwd?: never;
  readonly stderr?: never;
}

/** The options of a connection to another MCP server: the program to start, or the URL. */
export type ConnectMcpOptions = Program | Remote;

/** The tools of another MCP server, as one actor. */
export interface McpTools {
  /**
   * The actor by its address, with one operation for each tool. It outlives the connection, which is made anew when it is lost. After a change
   * of the tools, an older reference still works for those that are left; read `ref` again for new ones.
   */
  readonly ref: Ref<RemoteSignatures>;
  /** The protocol of `ref`. It is made of the server's list of tools, and made anew when the list changes. */
  readonly protocol: Protocol<string, RemoteSignatures>;
  /** The name and version that the server told, and the protocol's version that was agreed on. Undefined while there is no connection. */
  readonly server: { readonly name: string; readonly version: string; readonly protocolVersion: string } | undefined;
  /** Ends the connection and the actor, and the program. */
  close(): Promise<void>;
}

const TEXT_MAP: OptionCheck = option.rule(
  "is an object of texts",
  (value) => isObject(value) && Object.values(value).every((each) => typeof each === "string"),
);
const LIMITS: OptionChecks<RemoteLimits> = { tools: option.count, definition: option.count, message: option.count };
type All = Common & Pick<Program, "command" | "env" | "cwd" | "stderr"> & Pick<Remote, "url" | "headers">;
const CHECKS: OptionChecks<All> = {
  name: option.rule(
    "is made of letters, digits, _ and -",
    (value) => typeof value === "string" && /^[A-Za-z0-9_-]{1,64}$/.test(value),
  ),
  connectTimeout: option.duration,
  timeout: option.duration,
  concurrency: option.count,
  capacity: option.count,
  limits: option.group(LIMITS, "{ tools: 100 }"),
  command(value, name, of) {
    option.texts(value, name, of);
    if ((value as readonly string[]).length > 0) return; // An array, by the check before.
    throw new TypeError(`The ${name} of ${of} names a program: ["bunx", "some-server"].`);
  },
  env: TEXT_MAP,
  cwd: option.text,
  stderr: option.oneOf("inherit", "ignore"),
  url: option.rule("is an http or https URL", (value) => /^https?:$/.test(URL.parse(String(value))?.protocol ?? "")),
  headers: TEXT_MAP,
};

/** Throws on invalid options. */
export function checkConnecting(options: ConnectMcpOptions): void {
  const of = "a connection to an MCP server";
  const given: unknown = options; // Either form has some of them.
  checkOptions(given, CHECKS, of, '{ name: "files", command: ["bunx", "some-server"] }');
  CHECKS.name(options.name, "name", of); // It must be there.
  if ((options.command === undefined) !== (options.url === undefined)) return;
  throw new TypeError(`The options of ${of} have either a command, which starts the server, or its url.`);
}

/** The bounds that an owner sets, and defaults for the others. */
export function remoteLimitsOf(given: Partial<RemoteLimits> = {}): RemoteLimits {
  const { tools = 1_000, definition = 65_536, message = 10_485_760 } = given;
  return { tools, definition, message };
}
