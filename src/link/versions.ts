import type { AskError, Metadata, Protocol } from "../index";
import { Code } from "./frames";

/** Knows the versions of protocols, where the two sides of a link may have different ones. */
export interface Versions {
  /** The version of the protocol that has these operations. */
  of(operations: Protocol["operations"]): string;
  /**
   * Gives a sentence that names both versions, for the error of a message that does not fit. Called for each message between different
   * versions, on the side that serves it.
   */
  differ(called: string, served: string): string;
  /** The other side says that it serves another version than this side calls. */
  heard(called: string, served: string): void;
}

/** Pairs of versions that the other side is told, at most. */
const MOST_TOLD = 100;

/** Says where the other side calls an actor by another version of its protocol than is served here, and tells that side once. */
export class Differences {
  readonly #versions: Versions | undefined;
  readonly #tell: (frame: string) => void;
  /** The pairs of versions that the other side was told. */
  readonly #told = new Set<string>();

  constructor(versions: Versions | undefined, tell: (frame: string) => void) {
    this.#versions = versions;
    this.#tell = tell;
  }

  /** A sentence that names the version by which an actor is called and that of its protocol, where they are different. */
  sentence(called: string, operations: Protocol["operations"]): string | undefined {
    const served = this.#versions?.of(operations);
    if (served === undefined || served === called) return undefined;
    const frame = JSON.stringify([Code.versions, called, served]);
    if (this.#told.size < MOST_TOLD && !this.#told.has(frame)) {
      this.#told.add(frame);
      this.#tell(frame);
    }
    return this.#versions?.differ(called, served);
  }
}

/** The member of a message's metadata that names both versions, where they are different. */
const VERSIONS = "envoi.versions";

/** Adds the sentence that names both versions. */
export const withVersions = (metadata: Metadata | undefined, sentence: string): Metadata => ({
  ...metadata,
  [VERSIONS]: sentence,
});

/** The detail of a message that did not fit, with both versions where they are different. */
export function detailWithVersions({ kind }: AskError, metadata: Metadata | undefined, usual: unknown): unknown {
  const sentence = metadata?.[VERSIONS];
  if (typeof sentence !== "string") return usual;
  if (kind === "unknown-operation") return { versions: sentence };
  if (kind === "invalid-payload" && Array.isArray(usual)) return [{ path: "", message: sentence }, ...usual];
  return usual;
}

/** The detail as an error needs it. */
export function revivedVersions(detail: unknown): unknown {
  if (typeof detail !== "object" || detail === null || !("versions" in detail)) return detail;
  return typeof detail.versions === "string" ? new Error(detail.versions) : undefined;
}
