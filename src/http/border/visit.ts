import type { Metadata } from "../../index";
import type { BunServer, Caller, Timing, Visit } from "../contract";
import type { Rated } from "./rate-limit";
import { traceContextOf } from "./trace-context";

/** A request on its way. Its caller and its metadata are set once the gateway knows them. */
export class GatewayVisit implements Visit {
  readonly request: Request;
  readonly server: BunServer | undefined;
  readonly path: string;
  readonly query: string;
  readonly params: readonly string[];
  caller: Caller | undefined;
  metadata: Metadata | undefined;
  timing: Timing | null = null;
  /** What its rate limits said of it. */
  rated: Rated[] | null = null;
  #address: string | undefined;

  constructor(request: Request, server: BunServer | undefined, path: string, query: string, params: readonly string[]) {
    this.request = request;
    this.server = server;
    this.path = path;
    this.query = query;
    this.params = params;
    this.caller = undefined;
    this.metadata = undefined;
  }

  get owner(): string {
    if (this.caller !== undefined) return this.caller.id;
    this.#address ??= this.server?.requestIP(this.request)?.address ?? "";
    return this.#address;
  }

  /** It came by a proxy, which says whose it is. */
  set address(address: string | null | undefined) {
    this.#address = address || undefined;
  }
}

/** The path and the query of a URL, neither of them decoded. */
export function targetOf(url: string): { readonly path: string; readonly query: string } {
  const scheme = url.indexOf("://");
  const start = scheme < 0 ? 0 : url.indexOf("/", scheme + 3);
  if (start < 0) return ROOT;
  const mark = url.indexOf("?", start);
  return mark < 0
    ? { path: url.slice(start), query: "" }
    : { path: url.slice(start, mark), query: url.slice(mark + 1) };
}

const ROOT = { path: "/", query: "" };

/** The metadata of what a request sends: who its caller is, and the trace that it belongs to. */
export function metadataOf({ headers }: Request, caller: Caller | undefined): Metadata | undefined {
  const trace = traceContextOf(headers);
  if (caller === undefined) return trace && { ...trace };
  return { ...caller.metadata, caller: caller.id, ...trace };
}
