import type * as ClientSdk from "@modelcontextprotocol/client";
import type * as ClientStdio from "@modelcontextprotocol/client/stdio";
import type * as ServerSdk from "@modelcontextprotocol/server";
import type * as ServerStdio from "@modelcontextprotocol/server/stdio";

export type { ClientSdk, ServerSdk, ServerStdio };

/** The parts of the official SDK that a client needs. */
export type ClientParts = typeof ClientSdk & Pick<typeof ClientStdio, "StdioClientTransport">;

/** Loads the official SDK's server. This takes some 60 ms, so it waits until the server is needed. */
export const loadServer = (): Promise<typeof ServerSdk> =>
  load("serveMcp", "@modelcontextprotocol/server", () => import("@modelcontextprotocol/server"));

/** Loads the part of the official SDK's server that speaks over stdio. */
export const loadServerStdio = (): Promise<typeof ServerStdio> =>
  load("serveMcp", "@modelcontextprotocol/server", () => import("@modelcontextprotocol/server/stdio"));

/** Loads the official SDK's client. */
export async function loadClient(): Promise<ClientParts> {
  const [client, stdio] = await load("connectMcp", "@modelcontextprotocol/client", () =>
    Promise.all([import("@modelcontextprotocol/client"), import("@modelcontextprotocol/client/stdio")]),
  );
  return { ...client, StdioClientTransport: stdio.StdioClientTransport };
}

async function load<Module>(who: string, name: string, importing: () => Promise<Module>): Promise<Module> {
  try {
    return await importing();
  } catch (cause) {
    throw new Error(`${who} needs the package ${name}, which could not be loaded: install it with bun add ${name}.`, {
      cause,
    });
  }
}
