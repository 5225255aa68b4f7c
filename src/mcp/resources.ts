import {
  type AnyRef,
  checkOptions,
  type Door,
  type Metadata,
  type OptionChecks,
  option,
  publicError,
  quote,
  receive,
} from "../index";
import type { McpFiles, McpLimits, ServeMcpOptions } from "./options";
import { isObject } from "./rooted";
import type { ServerSdk } from "./sdk";
import { knownOperations } from "./tools";

/** The files of one actor. */
interface Root {
  readonly name: string;
  readonly door: Door;
  /** The beginning of the URIs of its files. */
  readonly uri: string;
  readonly description: string | undefined;
}

/** The part of a file actor's replies that is read here. The actor's protocol has checked them. */
type Reply<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly error: { readonly kind: string; readonly message: string } };
interface Page {
  readonly entries: readonly { readonly path: string; readonly kind: string; readonly size?: number }[];
  readonly cursor?: string;
}
interface Read {
  readonly encoding: string;
  readonly content: string;
}

/** The signal that ends a reading, and what handlers read beside its payload. */
export interface Asking {
  readonly signal: AbortSignal;
  readonly metadata: Metadata | undefined;
}

/** One file in the list. */
export interface ListedResource {
  readonly uri: string;
  readonly name: string;
  readonly title: string;
  readonly mimeType?: string;
  readonly size?: number;
}

const PAGE = 100;
const LONGEST_URI = 8_192;
const ROOT = /^[A-Za-z0-9_][A-Za-z0-9_.~-]*$/;
const FILES: OptionChecks<McpFiles> = {
  ref: option.any,
  uri: option.rule(
    'is the beginning of URIs, such as "notes://"',
    (value) => typeof value === "string" && /^[a-z][a-z0-9+.-]*:\/\/([\w.~%/-]*\/)?$/i.test(value),
  ),
  description: option.text,
};
/** Kinds of errors that are all reported as a missing file. */
const MISSING = new Set(["not-found", "outside-root", "invalid-path", "is-directory", "not-a-directory", "not-a-file"]);

/** The files of file actors, as resources. */
export class Resources {
  readonly #roots: readonly Root[];
  readonly #sdk: typeof ServerSdk;
  readonly #time: number;

  constructor(given: NonNullable<ServeMcpOptions["files"]>, sdk: typeof ServerSdk, { time }: McpLimits) {
    if (!isObject(given))
      throw new TypeError(`files are file actors by name, such as { notes: files }; got ${quote(given)}.`);
    this.#roots = Object.entries(given).map(([name, files]) => rootOf(name, files));
    const uris = this.#roots.map(({ uri }) => uri);
    const twice = uris.find((uri, index) => uris.indexOf(uri) < index);
    if (twice !== undefined)
      throw new TypeError(`Two roots of files begin with ${quote(twice)}: give one another uri.`);
    this.#sdk = sdk;
    this.#time = time;
  }

  /** The templates of all roots. */
  readonly templates = (): object => ({
    resourceTemplates: this.#roots.map(({ name, uri, description }) => ({
      name,
      uriTemplate: `${uri}{+path}`,
      ...(description !== undefined && { description }),
    })),
  });

  /** One page of files, root by root. */
  async list(cursor: unknown, asking: Asking): Promise<{ resources: ListedResource[]; nextCursor?: string }> {
    const place = cursor === undefined ? { root: 0 } : placeIn(cursor);
    const root = place && this.#roots[place.root];
    if (place === undefined || root === undefined) {
      if (cursor === undefined) return { resources: [] };
      throw this.#invalid("This cursor is none of this server's: begin without one.");
    }
    const { cursor: after } = place;
    const payload = { recursive: true, details: true, gitignore: true, limit: PAGE, ...(after && { cursor: after }) };
    const page = await this.#ask<Page>(root, "list", payload, asking);
    if (!page.ok) throw this.#invalid(page.error.message);
    const next: Place | undefined =
      page.value.cursor === undefined ? { root: place.root + 1 } : { root: place.root, cursor: page.value.cursor };
    return {
      resources: page.value.entries.filter(({ kind }) => kind === "file").map((entry) => listed(root, entry)),
      ...(next.root < this.#roots.length && { nextCursor: cursorOf(next) }),
    };
  }

  /** The contents of a file. */
  async read(uri: string, asking: Asking): Promise<object> {
    const root = this.#rootOf(uri);
    const path = root && pathIn(uri.slice(root.uri.length));
    if (root === undefined || path === undefined) throw this.#missing(uri);
    let reply = await this.#ask<Read>(root, "read", { path }, asking);
    if (!reply.ok && reply.error.kind === "not-text") {
      reply = await this.#ask<Read>(root, "read", { path, encoding: "base64" }, asking);
    }
    if (!reply.ok) {
      if (MISSING.has(reply.error.kind)) throw this.#missing(uri);
      throw this.#invalid(reply.error.message); // A file actor's sentences have no path of the host.
    }
    const { encoding, content } = reply.value;
    const type = typeOf(path);
    return {
      contents: [
        encoding === "base64"
          ? { uri, mimeType: type ?? "application/octet-stream", blob: content }
          : { uri, mimeType: type ?? "text/plain", text: content },
      ],
    };
  }

  /** The root whose URI is the longest beginning of a file's. */
  #rootOf(uri: string): Root | undefined {
    if (uri.length > LONGEST_URI) return undefined;
    let found: Root | undefined;
    for (const root of this.#roots) {
      if (uri.startsWith(root.uri) && root.uri.length > (found?.uri.length ?? -1)) found = root;
    }
    return found;
  }

  async #ask<Value>({ door }: Root, operation: string, payload: object, asking: Asking): Promise<Reply<Value>> {
    const { signal, metadata } = asking;
    const options = { timeout: this.#time, signal, ...(metadata !== undefined && { metadata }) };
    const reply = await door.ask(operation, payload, options);
    if (reply.isOk()) return reply.value as Reply<Value>; // By the operations of a file actor, which were looked for.
    const { kind, message } = publicError(reply.error);
    return { ok: false, error: { kind, message } };
  }

  #missing(uri: string): Error {
    return new this.#sdk.ResourceNotFoundError(uri.slice(0, LONGEST_URI), "There is no such resource.");
  }

  #invalid(message: string): Error {
    return new this.#sdk.ProtocolError(this.#sdk.INVALID_PARAMS, message);
  }
}

function rootOf(name: string, given: AnyRef | McpFiles): Root {
  if (!ROOT.test(name)) {
    throw new TypeError(
      `No files can be served as ${quote(name)}: begin with a letter, a digit or _, and go on with those, or . ~ -`,
    );
  }
  const of = `the files "${name}"`;
  const { ref, uri = `files://${name}/`, description }: McpFiles = isOptions(given) ? given : { ref: given };
  if (isOptions(given)) checkOptions(given, FILES, of, "{ ref: files }");
  const known = knownOperations(ref, of);
  for (const operation of ["list", "read"]) {
    if (known[operation]?.hasReply === true) continue;
    throw new TypeError(`The ref of ${of} is that of no file actor: it has no operation ${operation}.`);
  }
  return { name, door: receive(ref), uri, description };
}

/** True for options. A reference would have an address. */
const isOptions = (given: AnyRef | McpFiles): given is McpFiles =>
  isObject(given) && "ref" in given && !("address" in given);

function listed({ uri }: Root, { path, size }: Page["entries"][number]): ListedResource {
  const mimeType = typeOf(path);
  return {
    uri: uri + path.split("/").map(encodeURIComponent).join("/"),
    name: path.slice(path.lastIndexOf("/") + 1),
    title: path,
    ...(mimeType !== undefined && { mimeType }),
    ...(size !== undefined && { size }),
  };
}

/** The path that the rest of a URI stands for. The file actor checks whether it leads out of the root. */
function pathIn(rest: string): string | undefined {
  try {
    return rest.split("/").map(decodeURIComponent).join("/");
  } catch {
    return undefined;
  }
}

/** The media type by the ending of a name; undefined for an unknown ending. */
function typeOf(path: string): string | undefined {
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (!name.includes(".")) return undefined;
  const [type = ""] = Bun.file(name).type.split(";");
  return type === "" || type === "application/octet-stream" ? undefined : type;
}

interface Place {
  readonly root: number;
  readonly cursor?: string;
}

const cursorOf = ({ root, cursor = "" }: Place): string => Buffer.from(`${root}:${cursor}`).toString("base64url");

function placeIn(cursor: unknown): Place | undefined {
  if (typeof cursor !== "string" || cursor.length > LONGEST_URI) return undefined;
  const [, root, after] = /^(\d{1,6}):(.*)$/s.exec(Buffer.from(cursor, "base64url").toString()) ?? [];
  if (root === undefined) return undefined;
  return after === undefined || after === "" ? { root: Number(root) } : { root: Number(root), cursor: after };
}
