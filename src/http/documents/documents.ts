import type { KeyObject } from "node:crypto";
import { type OptionCheck, type OptionChecks, option } from "../../index";
import type { Part, PartMaker, Site, Visit } from "../contract";
import { refuse } from "../problem";
import { authorized } from "./authorized";
import { type HealthOptions, healthPart } from "./health";
import { checkKey, manifestOf, signManifest } from "./manifest";
import { type MetricsPageOptions, metricsPart } from "./metrics";
import { openApiOf } from "./openapi";

/** The pages by which a gateway tells of itself. */
export interface DocumentOptions {
  /**
   * `GET /openapi.json`, for callers who may: `authorize` is asked with the actor `/openapi.json` and the operation `read`.
   * Default: true.
   */
  readonly openapi?: boolean;
  /**
   * `GET /manifest`, for callers who may (`/manifest`, `read`). With a private Ed25519 key, as a KeyObject or as PEM,
   * `GET /manifest?signed` is the same with a signature, for `verifyManifest`. Default: true, without a key.
   */
  readonly manifest?: boolean | { readonly key: KeyObject | string };
  /** `GET /health/live`, `/health/ready` and `/health`, for everybody. Default: true, and ready until the gateway drains. */
  readonly health?: boolean | HealthOptions;
  /** `GET /metrics`, for callers who may (`/metrics`, `read`). It tells much of the service. Default: false. */
  readonly metrics?: boolean | MetricsPageOptions;
}

/** A page that is there or not, or has options. */
const page =
  <Options extends object>(checks: OptionChecks<Options>, example: string): OptionCheck =>
  (value, name, of) => {
    if (typeof value !== "boolean") option.group(checks, example)(value, name, of);
  };

/** The checks of the options. */
export const DOCUMENT_CHECKS: OptionChecks<DocumentOptions> = {
  openapi: option.flag,
  manifest: page({ key: option.any }, "{ key: privateKey }"), // The key is looked at when it is read.
  health: page<HealthOptions>(
    { ready: option.function(" that says whether the service can work"), timeout: option.duration },
    "{ ready: () => database.isOpen }",
  ),
  metrics: page<MetricsPageOptions>({ isOpen: option.flag }, "{ isOpen: true }"),
};

/** The parts that serve the pages which the options want. */
export function documentParts({
  openapi = true,
  manifest = true,
  health = true,
  metrics = false,
}: DocumentOptions): readonly PartMaker[] {
  return [
    ...(openapi ? [openApiPart] : []),
    ...(manifest === false ? [] : [manifestPart(manifest === true ? undefined : checkKey(manifest.key, "private"))]),
    ...(health === false ? [] : [(site: Site) => healthPart(site, health === true ? {} : health)]),
    ...(metrics === false ? [] : [(site: Site) => metricsPart(site, metrics === true ? {} : metrics)]),
  ];
}

function openApiPart(site: Site): Part {
  const text = once(() => JSON.stringify(openApiOf(site)));
  return {
    routes: [
      {
        method: "GET",
        path: "/openapi.json",
        handle: authorized(site, "/openapi.json", () => json(text())),
        description: { summary: "This document", answer: { type: "application/json", schema: { type: "object" } } },
      },
    ],
  };
}

const manifestPart =
  (key: KeyObject | undefined): PartMaker =>
  (site) => {
    const plain = once(() => JSON.stringify(manifestOf(site)));
    const signed = key && once(() => JSON.stringify(signManifest(manifestOf(site), key)));

    function answer(visit: Visit): Response {
      const wanted = visit.query === "" ? null : new URLSearchParams(visit.query).get("signed");
      if (wanted === null || wanted === "false") return json(plain());
      if (wanted !== "" && wanted !== "true") {
        return refuse("bad-request", "signed is true or false, such as in /manifest?signed.");
      }
      return signed ? json(signed()) : refuse("not-found", "The manifest is not signed here: leave ?signed out.");
    }

    return {
      routes: [
        {
          method: "GET",
          path: "/manifest",
          handle: authorized(site, "/manifest", answer),
          description: {
            summary: "Everything that the service offers, with JSON Schemas",
            query: { signed: { type: "boolean", description: "True for a manifest with its signature." } },
            ...(key === undefined && { statuses: [404] }),
            answer: { type: "application/json", schema: MANIFEST },
          },
        },
      ],
    };
  };

/** Keeps what is made when it is first wanted: all routes are known by then, and it never changes. */
function once(make: () => string): () => string {
  let text: string | undefined;
  return () => (text ??= make());
}

const json = (text: string): Response => new Response(text, { headers: { "content-type": "application/json" } });

const TEXT = { type: "string" };

/** The outline of a manifest (`Manifest` in manifest.ts). */
const MANIFEST = {
  type: "object",
  required: ["name", "version", "protocols", "endpoints", "routes"],
  properties: {
    name: TEXT,
    version: TEXT,
    protocols: { type: "object" },
    endpoints: {
      type: "array",
      items: {
        type: "object",
        required: ["actor", "protocol", "operation", "methods", "path"],
        properties: {
          actor: TEXT,
          protocol: TEXT,
          operation: TEXT,
          methods: { type: "array", items: TEXT },
          path: TEXT,
        },
      },
    },
    routes: { type: "array", items: { type: "object", required: ["method", "path", "summary"] } },
    signature: {
      type: "object",
      required: ["algorithm", "value"],
      properties: { algorithm: { type: "string", const: "Ed25519" }, value: TEXT },
    },
  },
};
