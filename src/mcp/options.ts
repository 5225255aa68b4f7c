import type { Readable, Writable } from "node:stream";
import type { AnyRef, Clock, Logger, Metadata, Ref } from "../index";

/** The sender of a request, as `authenticate` found it. */
export interface McpCaller {
  /** Names the caller. Handlers read it as `caller` in `ctx.metadata`. A session belongs to the caller that began it. */
  readonly id: string;
  /** More data for handlers, which read it in `ctx.metadata`. It must be JSON. Default: none. */
  readonly metadata?: Metadata;
}

/**
 * Finds the sender of a request by its headers. Undefined refuses it with 401; a response is the refusal itself. An error that it throws
 * is logged, and answered with 500. `bearerTokens` and `apiKeys` of `envoi/http` make such functions.
 */
export type McpAuthenticate = (
  request: Request,
  border: { readonly clock: Clock; readonly log: Logger },
) => McpCaller | Response | undefined | Promise<McpCaller | Response | undefined>;

/** The way in which an operation is shown as a tool. */
export interface ToolOptions {
  /**
   * The tool's name: letters, digits, `_` and `-`, at most 64. Default: the names of the actor and the operation, such as `notes_read`; all
   * other characters become `_`.
   */
  readonly name?: string;
  /** The tool's name for people. Default: the names of the actor and the operation in words, such as `Notes: read many`. */
  readonly title?: string;
  /** Default: the operation's own description, or the title. */
  readonly description?: string;
}

/** The operations of an actor that become tools: their names, or each with its options. */
export type ToolOperations = readonly string[] | { readonly [operation: string]: true | ToolOptions };

/** The actors whose operations become tools, by names that tools begin with. */
export interface McpExposing {
  readonly [name: string]: { readonly ref: AnyRef; readonly operations: ToolOperations };
}

/**
 * Checks that the listed operations are in the protocol of their `ref`. A list of type `string[]`, or a reference without a protocol, is
 * checked only at run time.
 */
export type KnownExposed<E> = {
  readonly [Name in keyof E]: E[Name] extends {
    readonly ref: Ref<infer S, infer _Shapes>;
    readonly operations: infer Listed;
  }
    ? [keyof S] extends [never]
      ? E[Name]
      : { readonly ref: E[Name]["ref"]; readonly operations: KnownOperations<S, Listed> }
    : E[Name];
};

type KnownOperations<S, Listed> = Listed extends readonly (infer Name)[]
  ? [string] extends [Name]
    ? Listed
    : readonly (keyof S & string)[]
  : { readonly [Name in keyof Listed]: Name extends keyof S ? true | ToolOptions : never };

/** A file actor whose files are resources. */
export interface McpFiles {
  /** The file actor that `spawnFileSystem` returned, or another actor with its operations `list` and `read`. */
  readonly ref: AnyRef;
  /** The beginning of the files' URIs, such as `notes://`. Default: `files://` and the root's name and a slash. */
  readonly uri?: string;
  /** Says what the files are, for people and models. Default: none. */
  readonly description?: string;
}

/** An operation that returns a prompt: a text, or a value of the schema `PromptReply`. Its payload is an object of texts. */
export interface McpPrompt {
  readonly ref: AnyRef;
  readonly operation: string;
  /** The prompt's name for people. Default: its name. */
  readonly title?: string;
  /** Default: the operation's own description. */
  readonly description?: string;
}

/** The bounds of requests from outside. */
export interface McpLimits {
  /** Most bytes of a message. Default: 1,048,576. */
  readonly body: number;
  /** Deepest nesting of a message that came over HTTP. Default: 64. */
  readonly depth: number;
  /** Milliseconds in which the body of a request must have come. Default: 10,000. */
  readonly bodyTime: number;
  /** Milliseconds that a call may take. Default: 60,000. */
  readonly time: number;
  /** Most calls of tools, prompts and resources at one time. Further ones are refused, with the advice to try again later. Default: 1,000. */
  readonly calls: number;
  /** Most items of a stream in the result of a tool. Default: 1,000. */
  readonly items: number;
  /** Most sessions of protocol 2025-11-25 at one time. Default: 1,000. */
  readonly sessions: number;
  /** Milliseconds after which a session that is not used ends. Default: 1,800,000 (30 minutes). */
  readonly idle: number;
}

/** The options of an MCP server. */
export interface ServeMcpOptions {
  /** The server's name, for its clients. */
  readonly name: string;
  /** The server's version, for its clients. */
  readonly version: string;
  /** The server's name for people. Default: none. */
  readonly title?: string;
  /** Says to models how to use the server. Default: none. */
  readonly instructions?: string;
  /** The actors and operations that become tools. Default: none. */
  readonly expose?: McpExposing;
  /** File actors whose files become resources, by names that stand in the URIs. Default: none. */
  readonly files?: { readonly [root: string]: AnyRef | McpFiles };
  /** The operations that give prompts, by the prompts' names. Default: none. */
  readonly prompts?: { readonly [name: string]: McpPrompt };
  /** Finds the callers of HTTP requests. Default: the caller that a guard of `envoi/http` has found; without a guard, anybody may call. */
  readonly authenticate?: McpAuthenticate;
  /**
   * The host names of the server. Requests to other hosts, and from browsers' pages of other hosts, are refused, against DNS rebinding.
   * `"any"` checks neither, for a server behind a gateway that does. Default: `localhost`, `127.0.0.1` and `[::1]`.
   */
  readonly hosts?: readonly string[] | "any";
  /** The bounds of requests from outside. Default: those of `McpLimits`. */
  readonly limits?: Partial<McpLimits>;
}

/** One connection over stdio. */
export interface McpConnection {
  /** Resolves once the client has gone, or `close` was called. */
  readonly closed: Promise<void>;
  /** Ends the connection. Calls under way are given up. */
  close(): Promise<void>;
}

/** An MCP server. */
export interface McpServing {
  /** The names of the tools, in order. */
  readonly tools: readonly string[];
  /**
   * Answers a request of streamable HTTP: for `Bun.serve`, another router, or `guard` of `envoi/http`. Never rejects.
   *
   * @param beside Bun's server, if there is one: calls may then take longer than the server's `idleTimeout`, which is 10 seconds. A guard
   * passes it on, with the caller.
   */
  readonly fetch: (request: Request, beside?: unknown) => Promise<Response>;
  /**
   * Serves one client over the process's stdin and stdout. Nothing else may write to stdout then.
   *
   * @param streams take the place of stdin and stdout, such as those of a socket.
   */
  stdio(streams?: { readonly input: Readable; readonly output: Writable }): Promise<McpConnection>;
  /** Ends all connections and sessions, and takes no more. Calls under way are given up. The actors go on. */
  close(): Promise<void>;
}
