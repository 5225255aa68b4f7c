import { mkdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { createSystem, type Logger, type System, Type } from "envoi";
import { serve } from "envoi/http";
import { type FetchRule, spawnFetch, spawnFileSystem } from "envoi/tools";
import { agentOf } from "./agent";
import type { Model } from "./model";
import { pageOf } from "./page";
import { Agent } from "./protocols";
import type { Tracing } from "./tracing";

export interface ServiceOptions {
  /** The folder that keeps the sessions and their files. It is made if it is not there. */
  readonly data: string;
  readonly port: number;
  readonly hostname: string;
  /** Milliseconds before each step. */
  readonly pause: number;
  readonly model: Model;
  /** URLs that the agents may ask for. */
  readonly allow: readonly (string | FetchRule)[];
  /** Told what fails. Default: `console`. */
  readonly logger?: Logger;
  /** Default: nothing is traced. */
  readonly tracing?: Tracing;
}

/** Thrown when the service cannot start; its message says what to do. */
export class CannotStart extends Error {}

/**
 * Starts the service: it ends in order by SIGINT and SIGTERM.
 *
 * @throws CannotStart (as a rejection) when the port or the folder is in use, or this machine has no safe way to serve files.
 */
export async function startService(options: ServiceOptions) {
  const { data, port, hostname, pause, model, allow, logger, tracing } = options;
  const page = await pageOf();
  try {
    const workspaces = join(data, "workspaces");
    mkdirSync(workspaces, { recursive: true });
    const system = createSystem({ ...(logger && { logger }) });
    await checkStart(system, workspaces, allow);
    tracing?.follow(system);
    return serve(system, {
      port,
      hostname,
      name: "agent-service",
      expose: {},
      sessions: {
        protocol: Agent,
        operations: ["work", "goOn"],
        metadata: Type.Object({ title: Type.String({ maxLength: 60 }) }),
        path: join(data, "sessions.sqlite"),
        factory: agentOf({ workspaces, pause, model, allow }),
        onDelete: ({ id }) => rm(join(workspaces, id), { recursive: true, force: true }),
      },
      parts: [page],
      ...(tracing && { around: tracing.around }),
    });
  } catch (thrown) {
    throw new CannotStart(thrown instanceof Error ? thrown.message : String(thrown), { cause: thrown });
  }
}

/** The service as its page knows it: the client takes its types. */
export type Service = Awaited<ReturnType<typeof startService>>;

/** Throws at the start what would else fail each message. */
async function checkStart(system: System, root: string, allow: ServiceOptions["allow"]): Promise<void> {
  await system.stop(spawnFileSystem(system, { root, readOnly: true }));
  await system.stop(spawnFetch(system, { allow }));
}
