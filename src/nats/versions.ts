import { jsonSchemaOf, type OperationJsonSchema, type Protocol, protocolOf } from "../index";
import type { Versions } from "../link/index";
import type { Connection } from "./connection";
import { hashOf } from "./shards";

/** Pairs of versions that are told for another node, at most. */
const MOST_TOLD = 100;

const known = new WeakMap<Protocol["operations"], string>();

/**
 * The version of a protocol, as nodes of a cluster tell it to each other: its name, and a fingerprint of its operations and their schemas. A description is no part of
 * it, nor is a schema that has no JSON Schema. Errors between nodes of different versions name both.
 *
 * @example
 * versionOf(Counter); // "counter 5fa3b2c1"
 */
export const versionOf = ({ operations }: Pick<Protocol, "operations">): string => {
  let version = known.get(operations);
  if (version === undefined) {
    version = `${protocolOf(operations) ?? "unnamed"} ${fingerprintOf(operations)}`;
    known.set(operations, version);
  }
  return version;
};

function fingerprintOf(operations: Protocol["operations"]): string {
  const protocol: Protocol = { name: "any", operations };
  const parts = Object.keys(operations)
    .sort()
    .map((name) => [name, schemaOf(protocol, name)]);
  return hashOf(JSON.stringify(parts, sorted)).toString(16).padStart(8, "0");
}

/** An operation as JSON; where it has none, the parts that it has. */
function schemaOf(protocol: Protocol, name: string): unknown {
  try {
    // It has the name that was asked for.
    const { description, hints, ...rest } = jsonSchemaOf(protocol, [name])[name] as OperationJsonSchema;
    return rest;
  } catch {
    const { hasPayload, hasReply, isStream } = protocol.operations[name] ?? {};
    return { hasPayload, hasReply, isStream };
  }
}

/** The members of an object in the order of their names. */
const sorted = (_: string, value: unknown): unknown => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
};

/** Differences that were told. */
class Told {
  readonly #connection: Connection;
  readonly #sentences = new Map<string, string>();

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Gives a sentence that names the two versions, and tells of them for the first time. */
  sentence(caller: string, called: string, server: string, served: string): string {
    const key = `${caller} ${called} ${served}`;
    const known = this.#sentences.get(key);
    if (known !== undefined) return known;
    const sentence = `node "${caller}" calls "${called}", and node "${server}" serves "${served}"`;
    if (this.#sentences.size >= MOST_TOLD) return sentence;
    this.#sentences.set(key, sentence);
    const { cluster, node, system } = this.#connection;
    system.log.warn(`Cluster "${cluster}": ${sentence}: what does not fit both is refused.`);
    this.#connection.tell("versions", { node: caller === node ? server : caller, caller, called, server, served });
    return sentence;
  }
}

/** @internal Compares the protocols of this node with those of another one. Each difference is told once, by both nodes. */
export function versionsWith(connection: Connection, other: string): Versions {
  const { node } = connection;
  const told = new Told(connection);
  return {
    of: (operations) => versionOf({ operations }),
    differ: (called, served) => told.sentence(other, called, node, served),
    heard: (called, served) => void told.sentence(node, called, other, served),
  };
}

const durable = new WeakMap<Connection, Told>();

/**
 * @internal A sentence that names the version by which a node sent a durable message and that of its receiver's protocol, where both are known and different. Each difference is
 * told once, by this node alone: the other one may be gone.
 */
export function durableDifference(
  connection: Connection,
  from: string,
  sent: string | undefined,
  served: string | undefined,
): string | undefined {
  if (sent === undefined || served === undefined || sent === served) return undefined;
  const told = durable.get(connection) ?? new Told(connection);
  durable.set(connection, told);
  return told.sentence(from, sent, connection.node, served);
}
