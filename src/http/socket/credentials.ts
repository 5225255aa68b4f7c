import { callerIn } from "../border/authenticate";
import type { Caller, Site } from "../contract";

/** A request as it would be with a bearer token. Undefined for a text that can be none. */
export function withToken(request: Request, token: string): Request | undefined {
  if (!/^[\x21-\x7e]+$/.test(token)) return undefined;
  const headers = new Headers(request.headers);
  headers.set("authorization", `Bearer ${token}`);
  return new Request(request.url, { headers });
}

/**
 * Says who sent a request; undefined when nobody is let in by it. A response is a refusal that has nothing to do with the caller, such as 503.
 *
 * @throws what the owner's function throws; TypeError when it gives no caller.
 */
export async function callerOf(site: Site, request: Request | undefined): Promise<Caller | Response | undefined> {
  if (request === undefined || site.authenticate === undefined) return undefined;
  const caller = callerIn(await site.authenticate(request));
  return caller instanceof Response && caller.status === 401 ? undefined : caller;
}
