import { callerIn } from "../border/authenticate";
import type { Part, PartMaker, Site, Visit } from "../contract";
import { authorized } from "../documents/authorized";
import { familyOf } from "../metric-family";
import { refuse } from "../problem";
import { eventResponse } from "../streams/event-response";
import { LiveView, wantedOf } from "./live";
import { Lookout } from "./lookout";
import type { InspectorOptions } from "./options";
import { type Asset, loadPage, type Page } from "./page-files";

const PATH = "/inspect";
const EVERY = 1_000;
const LOG = 500;

/**
 * `GET /inspect`: a page that shows the actors of the system live, to callers who may (`/inspect`, `read`). The page itself has no data: it is
 * the same for everybody, so that a browser gets it with the refusal, and can ask for credentials. All data comes by `/inspect/live`.
 *
 * @throws TypeError when nobody is asked who they are, unless the owner says that it is open.
 */
const inspectorPart =
  ({ isOpen = false, every = EVERY, log = LOG }: InspectorOptions): PartMaker =>
  (site) => {
    if (!isOpen && site.authenticate === undefined) {
      throw new TypeError(
        "The inspector shows names and errors of actors to everybody: give authenticate, or inspector: { isOpen: true } where only you can reach the server.",
      );
    }
    return partOf(site, isOpen, new Lookout(site.system, every, log));
  };

/** The inspector, where the options want it. */
export function inspectorParts({
  inspector = false,
}: {
  readonly inspector?: boolean | InspectorOptions;
}): readonly PartMaker[] {
  return inspector === false ? [] : [inspectorPart(inspector === true ? {} : inspector)];
}

function partOf(site: Site, isOpen: boolean, lookout: Lookout): Part {
  let page: Promise<Page> | undefined;
  const load = (): Promise<Page> => (page ??= loadPage(site.credentials));

  /** Undefined for those who may see the page. */
  async function refusalFor(request: Request): Promise<Response | undefined> {
    if (site.authenticate === undefined || isOpen) return undefined;
    const caller = callerIn(await site.authenticate(request));
    if (caller instanceof Response) return caller;
    return site.authorize({ caller, request, owner: caller.id }, PATH, "read");
  }

  async function show({ request }: Visit): Promise<Response> {
    const refusal = await refusalFor(request);
    const isBrowser = request.headers.get("accept")?.includes("text/html") === true;
    const mayAsk = refusal?.status === 401 || refusal?.status === 403;
    if (refusal !== undefined && !(isBrowser && mayAsk)) return refusal;
    const { html } = await load();
    const response = answer(request, html, refusal?.status ?? 200, "private, no-cache");
    const challenge = refusal?.headers.get("www-authenticate");
    if (challenge != null) response.headers.set("www-authenticate", challenge);
    return response;
  }

  async function send({ request, params: [name = ""] }: Visit): Promise<Response> {
    const { assets } = await load();
    const asset = assets.get(name);
    if (asset === undefined) return refuse("not-found", "There is nothing at this path: load the page again.");
    return answer(request, asset, 200, "public, max-age=31536000, immutable");
  }

  function live(visit: Visit): Response {
    const wanted = wantedOf(visit.query);
    if (typeof wanted === "string") return refuse("bad-request", wanted);
    const follow = (after: number): { at: number; leave(): void } => ({ at: after, leave: lookout.watch() });
    return eventResponse(site, visit, new LiveView(site, lookout, wanted), { after: 0, follow });
  }

  return {
    routes: [
      { method: "GET", path: PATH, isOpen: true, handle: show },
      { method: "GET", path: `${PATH}/:file`, isOpen: true, handle: send },
      { method: "GET", path: `${PATH}/live`, isOpen, handle: isOpen ? live : authorized(site, PATH, live) },
    ],
    metrics: () => [
      familyOf("gauge", "envoi_inspector_pages", "Pages of the inspector that are open.", lookout.watchers),
    ],
    close: () => lookout.close(),
  };
}

/** Nothing but its own files is loaded, and nothing is framed; no text can become markup or code. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const HEADERS = {
  "content-security-policy": POLICY,
  "x-frame-options": "DENY",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};

function answer(request: Request, { text, type, etag }: Asset, status: number, caching: string): Response {
  const headers = { ...HEADERS, "content-type": type, etag, "cache-control": caching, vary: "accept" };
  const isKnown = status === 200 && request.headers.get("if-none-match") === etag;
  return new Response(isKnown ? null : text, { status: isKnown ? 304 : status, headers });
}
