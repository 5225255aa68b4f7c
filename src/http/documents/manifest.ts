import { createPrivateKey, createPublicKey, KeyObject, sign, verify } from "node:crypto";
import { err, ok, operationsOf, protocolOf, quote, type Result } from "../../index";
import type { Site } from "../contract";
import { canonicalJson, NotCanonical, parseUnambiguous } from "./canonical";
import { endpointsOf, listedRoutes, methodsOf, pathOf } from "./reachable";

/** Everything that a service offers, as data: what it is called, what its operations take and give, and where they are. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  /** The exposed operations of each protocol, by name. */
  readonly protocols: { readonly [protocol: string]: { readonly [operation: string]: ManifestOperation } };
  /** The place of each exposed operation. */
  readonly endpoints: readonly ManifestEndpoint[];
  /** The other routes of the gateway. */
  readonly routes: readonly { readonly method: string; readonly path: string; readonly summary: string }[];
}

/** An operation: JSON Schemas (draft 2020-12) of what it takes and gives, and what its definition says of it. */
export interface ManifestOperation {
  readonly pattern: "ask" | "stream" | "tell";
  readonly description?: string;
  readonly hints?: { readonly readOnly?: boolean; readonly idempotent?: boolean; readonly destructive?: boolean };
  readonly input?: { readonly [keyword: string]: unknown };
  readonly isInputRequired?: boolean;
  readonly output?: { readonly [keyword: string]: unknown };
  /** Each item of a stream. */
  readonly items?: { readonly [keyword: string]: unknown };
}

/** An operation of an actor, and where it is. */
export interface ManifestEndpoint {
  readonly actor: string;
  readonly protocol: string;
  readonly operation: string;
  readonly methods: readonly string[];
  readonly path: string;
  /** True for a stream that can be resumed. */
  readonly resume?: true;
  readonly format?: "ai-sdk";
}

/** A manifest with the signature of its canonical form (RFC 8785), which has all of it but the signature. */
export interface SignedManifest extends Manifest {
  /** The signature is 64 bytes in base64url, without padding. */
  readonly signature: { readonly algorithm: "Ed25519"; readonly value: string };
}

/** The reason why a manifest is not trusted. */
export interface ManifestError {
  /**
   * `invalid-manifest`: it is no manifest, or not all readers would read the same in it. `unsigned`: it has no signature.
   * `wrong-signature`: it was changed, or somebody else has signed it.
   */
  readonly kind: "invalid-manifest" | "unsigned" | "wrong-signature";
  readonly message: string;
}

/** The manifest of a gateway. */
export function manifestOf(site: Site): Manifest {
  const names = new Map<object, string>();
  const protocols = new Map<string, Record<string, ManifestOperation>>();
  for (const { ref, name } of site.exposure.values()) {
    const operations = operationsOf(ref);
    if (operations === null || names.has(operations)) continue;
    const own = protocolOf(operations) ?? name;
    let free = own; // Two protocols may have one name.
    for (let count = 2; protocols.has(free); count++) free = `${own}-${count}`;
    names.set(operations, free);
    protocols.set(free, Object.create(null));
  }
  const endpoints = endpointsOf(site).map((endpoint): ManifestEndpoint => {
    const { actor, operation, json, options } = endpoint;
    const protocol = names.get(operationsOf(actor.ref) ?? {}) ?? "";
    const listed = protocols.get(protocol);
    if (listed !== undefined) listed[operation.name] = withoutAbsent(json);
    return {
      actor: actor.name,
      protocol,
      operation: operation.name,
      methods: methodsOf(endpoint),
      path: site.basePath + pathOf(endpoint),
      ...(options.resume !== undefined && { resume: true }),
      ...(options.format === "ai-sdk" && { format: options.format }),
    };
  });
  return {
    name: site.name,
    version: site.version,
    protocols: Object.fromEntries(protocols),
    endpoints,
    routes: listedRoutes(site).map(({ method, path, description }) => ({
      method,
      path: site.basePath + path,
      summary: description.summary,
    })),
  };
}

/** Drops what JSON leaves out, so that the manifest has a canonical form. */
const withoutAbsent = (value: object): ManifestOperation => JSON.parse(JSON.stringify(value));

/**
 * Signs a manifest with an Ed25519 key.
 *
 * @param privateKey a key of node:crypto, or its text (PEM).
 * @throws TypeError when the key is no private Ed25519 key, or the manifest is not JSON.
 * @example
 * const { privateKey, publicKey } = generateKeyPairSync("ed25519");
 * const signed = signManifest(manifest, privateKey);
 */
export function signManifest(manifest: Manifest, privateKey: KeyObject | string): SignedManifest {
  const key = checkKey(privateKey, "private");
  // An earlier signature is dropped.
  const { signature: _, ...unsigned } = manifest as Manifest & { readonly signature?: unknown };
  let text: string;
  try {
    text = canonicalJson(unsigned);
  } catch (thrown) {
    if (thrown instanceof NotCanonical) throw new TypeError(`The manifest ${thrown.message}: it must be plain JSON.`);
    throw thrown;
  }
  return {
    ...unsigned,
    signature: { algorithm: "Ed25519", value: sign(null, Buffer.from(text), key).toString("base64url") },
  };
}

/**
 * Tells whether a manifest is what the owner of a key has signed, and gives it without its signature. Give it the text as it came: a
 * text with the same key twice, which two readers may read differently, is refused. The signature has no date: compare versions where
 * an old manifest must not pass for a new one.
 *
 * @param manifest the text of a manifest, or what `JSON.parse` made of it.
 * @param publicKey the key of the service, from a source that you trust: a key of node:crypto, or its text (PEM).
 * @throws TypeError when the key is no public Ed25519 key.
 * @example
 * const response = await fetch("https://agents.example.com/manifest?signed");
 * const verified = verifyManifest(await response.text(), publicKey);
 * if (verified.isOk()) console.log(verified.value.endpoints);
 */
export function verifyManifest(manifest: unknown, publicKey: KeyObject | string): Result<Manifest, ManifestError> {
  const key = checkKey(publicKey, "public");
  const parsed = typeof manifest === "string" ? parseUnambiguous(manifest) : { value: manifest };
  if (parsed === undefined) return invalid("is no JSON, is nested too deep, or has a key twice in one object");
  if (!isRecord(parsed.value)) return invalid("is no object");
  const { signature, ...unsigned } = parsed.value;
  if (signature === undefined) {
    return err({ kind: "unsigned", message: "The manifest has no signature: ask for it with /manifest?signed." });
  }
  const bytes = bytesOf(signature);
  if (bytes === undefined)
    return invalid('has no signature { "algorithm": "Ed25519", "value": 64 bytes in base64url }');
  let text: string;
  try {
    text = canonicalJson(unsigned);
  } catch (thrown) {
    return invalid(thrown instanceof NotCanonical ? thrown.message : "cannot be read");
  }
  if (!verify(null, Buffer.from(text), key, bytes)) {
    return err({
      kind: "wrong-signature",
      message: "The manifest was changed, or signed with another key: do not trust it.",
    });
  }
  return isManifest(unsigned) ? ok(unsigned) : invalid("lacks its name, version, protocols or endpoints");
}

const invalid = (fault: string): Result<Manifest, ManifestError> =>
  err({ kind: "invalid-manifest", message: `The manifest ${fault}.` });

type Unknowns = Readonly<Record<string, unknown>>;

const isRecord = (value: unknown): value is Unknowns =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The outline alone: the owner of the key has signed what is in it. */
const isManifest = (value: Unknowns): value is Unknowns & Manifest =>
  typeof value["name"] === "string" &&
  typeof value["version"] === "string" &&
  isRecord(value["protocols"]) &&
  Array.isArray(value["endpoints"]);

/** The bytes of a signature. Undefined unless it is written in the one way in which it can be, so that nobody can vary it. */
function bytesOf(signature: unknown): Buffer | undefined {
  if (!isRecord(signature) || Object.keys(signature).length !== 2 || signature["algorithm"] !== "Ed25519")
    return undefined;
  const { value } = signature;
  if (typeof value !== "string" || value.length !== 86) return undefined;
  const bytes = Buffer.from(value, "base64url");
  return bytes.toString("base64url") === value ? bytes : undefined;
}

/** Gives a key of node:crypto. */
export function checkKey(key: KeyObject | string, type: "public" | "private"): KeyObject {
  let found: unknown = key;
  if (typeof key === "string") {
    try {
      found = type === "public" ? createPublicKey(key) : createPrivateKey(key);
    } catch {
      throw new TypeError(`The ${type} key of a manifest cannot be read: give it as PEM, or as a KeyObject.`);
    }
  }
  if (found instanceof KeyObject && found.type === type && found.asymmetricKeyType === "ed25519") return found;
  throw new TypeError(
    `A manifest has a ${type} Ed25519 key, such as generateKeyPairSync("ed25519").${type}Key; got ${
      found instanceof KeyObject ? `a ${found.type} key (${found.asymmetricKeyType})` : quote(found)
    }.`,
  );
}
