import { describe, expect, test } from "bun:test";
import { Validator } from "@seriousme/openapi-schema-validator";
import type { Route } from "../../../src/http/contract";
import { anyOf, apiKeys, bearerTokens, createGateway, type GatewayOptions } from "../../../src/http/index";
import { createSystem, defineProtocol, Type } from "../../../src/index";
import { documentOf, type Json, statusesOf } from "./openapi-document";
import { notesService } from "./service";

/** Each operation of a document. */
function operationsIn({ paths }: Json): { path: string; method: string; operation: Json }[] {
  return Object.entries(paths ?? {}).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
}

const at = (node: Json | undefined, ...keys: readonly string[]): Json =>
  keys.reduce<Json | undefined>((found, key) => found?.[key], node) ?? {};

/** Finds what a reference leads to. */
const resolve = (document: Json, reference: string): unknown =>
  reference
    .slice(2)
    .split("/")
    .reduce<Json | undefined>(
      (node, key) => node?.[decodeURIComponent(key).replaceAll("~1", "/").replaceAll("~0", "~")],
      document,
    );

function* referencesIn(node: unknown): Generator<string> {
  if (typeof node !== "object" || node === null) return;
  for (const [key, value] of Object.entries(node)) {
    if (key === "$ref" && typeof value === "string") yield value;
    else yield* referencesIn(value);
  }
}

const all: Omit<GatewayOptions, "expose"> = { metrics: true, authenticate: () => ({ id: "a" }), authorize: () => true };

describe("GET /openapi.json", () => {
  test.each([
    ["with all pages and callers", all],
    ["with no page but itself, below a base path", { basePath: "/api", manifest: false, health: false }],
  ])("is valid OpenAPI 3.1 %s", async (_, options) => {
    const document = await documentOf(notesService(options).gateway, "basePath" in options ? "/api" : "");
    const { valid, errors } = await new Validator().validate(structuredClone(document));
    expect([valid, errors]).toEqual([true, undefined]);
    expect(document["openapi"] as unknown).toBe("3.1.0");
    expect(document["info"] as unknown).toEqual({ title: "notes-service", version: "1.2.3" });
    const references = [...referencesIn(document)];
    expect(references.length).toBeGreaterThan(30);
    expect(references.filter((reference) => resolve(document, reference) === undefined)).toEqual([]);
    const ids = operationsIn(document).map(({ operation }) => String(operation["operationId"]));
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("tells of each exposed operation what it takes and gives", async () => {
    const document = await documentOf(notesService().gateway);
    const { post, get } = at(document, "paths", "/actors/notes/read");
    const schemaAt = (reference: unknown): unknown => resolve(document, String((reference as Json)["$ref"]));
    const body = post?.["requestBody"] as unknown as { required: boolean; content: Json };
    expect(body.required).toBe(true);
    expect(schemaAt(body.content["application/json"]?.["schema"])).toEqual({ type: "integer", minimum: 1 });
    expect(get?.["parameters"]?.[0] as unknown).toEqual({
      name: "input",
      in: "query",
      required: true,
      description: "The payload as JSON.",
      content: body.content,
    });
    const { 200: reply, 204: nothing } = at(post, "responses");
    expect(nothing).toBeDefined(); // Its reply may be undefined.
    expect(schemaAt(reply?.["content"]?.["application/json"]?.["schema"])).toMatchObject({ required: ["id", "text"] });
    const stream = document["paths"]?.["/actors/notes/search"]?.["post"]?.["responses"]?.["200"];
    expect(Object.keys(stream?.["content"] ?? {})).toEqual(["text/event-stream"]);
    const item = stream?.["content"]?.["text/event-stream"]?.["schema"]?.["oneOf"]?.[0]?.["properties"]?.["data"];
    expect(schemaAt(item?.["contentSchema"])).toMatchObject({ required: ["id", "text"] });
    expect(document["paths"]?.["/actors/notes/write"]?.["post"]?.["description"] as unknown).toBe("Keeps a note.");
  });

  test("says how callers send their credentials, and which pages need none", async () => {
    const keys = apiKeys({ header: "X-Key", keys: { "a-key-of-some-length": "ann" } });
    const authenticate = anyOf(bearerTokens({ "a-token-of-some-length": "bob" }), keys);
    const { gateway } = notesService({ authenticate });
    const request = new Request("http://x/openapi.json", { headers: { "x-key": "a-key-of-some-length" } });
    const document = (await (await gateway.fetch(request)).json()) as Json;
    expect(await new Validator().validate(structuredClone(document))).toMatchObject({ valid: true });
    expect(document["security"] as unknown).toEqual([{ authorization: [] }, { "x-key": [] }]);
    expect(document["components"]?.["securitySchemes"] as unknown).toEqual({
      authorization: { type: "http", scheme: "bearer" },
      "x-key": { type: "apiKey", in: "header", name: "x-key" },
    });
    expect(at(document, "paths", "/health/live", "get")["security"] as unknown).toEqual([]);
    expect(statusesOf(document, "/health/live", "get")).toEqual([200]);
  });

  test("a schema that refers to itself does so in the document, too", async () => {
    const document = await documentOf(notesService().gateway);
    const tree = "#/components/schemas/notes.tree.input.Tree";
    expect(resolve(document, "#/components/schemas/notes.tree.input")).toEqual({ $ref: tree });
    expect(resolve(document, tree)).toMatchObject({ properties: { below: { type: "array", items: { $ref: tree } } } });
  });

  test("schemas of other libraries, and those that are given, come as they are", async () => {
    await using system = createSystem();
    const given = { $schema: "http://json-schema.org/draft-07/schema#", definitions: { a: { type: "string" } } };
    const Odd = defineProtocol("odd", {
      given: {
        payload: Type.Any(),
        schema: {
          payload: {
            ...given,
            type: "object",
            properties: { $ref: { $ref: "#/definitions/a" } },
            default: { $ref: "#" },
          },
        },
      },
      "a b/c{d}": { reply: Type.Object({ ä: Type.Literal("ü") }) },
    });
    const odd = system.spawn("odd", Odd, () => ({ given() {}, "a b/c{d}": () => ({ ä: "ü" as const }) }));
    const gateway = createGateway(system, { expose: { "o~dd": { ref: odd, operations: ["given", "a b/c{d}"] } } });
    const document = await documentOf(gateway);
    const name = "#/components/schemas/o_dd.given.input";
    expect(resolve(document, name)).toEqual({
      ...given,
      type: "object",
      properties: { $ref: { $ref: `${name}/definitions/a` } },
      default: { $ref: "#" },
    });
    const response = await gateway.fetch(new Request("http://x/actors/o~dd/a%20b%2Fc%7Bd%7D", { method: "POST" }));
    expect(await response.json()).toEqual({ ä: "ü" });
    expect(document["paths"]).toHaveProperty(["/actors/o~dd/a%20b%2Fc%7Bd%7D"]);
    const plain = createGateway(system, { expose: { "o~dd": { ref: odd, operations: ["a b/c{d}"] } } });
    expect(await new Validator().validate(await documentOf(plain))).toMatchObject({ valid: true });
  });
});

describe("what the document lists is what can be reached, and nothing else:", () => {
  const routes: Route[] = [];
  const { gateway } = notesService({
    metrics: true,
    parts: [
      (site) => {
        routes.length = 0;
        // Complete once the gateway is made.
        queueMicrotask(() => routes.push(...site.routes));
        return { routes: [] };
      },
    ],
  });

  test("each path and method that is listed is there", async () => {
    for (const { path, method } of operationsIn(await documentOf(gateway))) {
      const response = await gateway.fetch(
        new Request(`http://x${path.replaceAll(/\{\w+\}/g, "x")}`, { method, headers: { prefer: "wait=0" } }),
      );
      expect(response.status).not.toBe(405);
      if (response.status === 404) expect(await response.text()).not.toContain("nothing at this path");
      else await response.body?.cancel();
    }
  });

  test("each route is listed, but those that stand for the operations, and that of sockets, which OpenAPI cannot describe", async () => {
    const listed = operationsIn(await documentOf(gateway)).map(({ path, method }) => `${method} ${path}`);
    const missing = routes
      .map(({ path, method }) => `${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`)
      .filter((route) => !listed.includes(route));
    expect(routes.length).toBeGreaterThan(6);
    expect(missing.sort()).toEqual([
      "GET /actors/{name}/{operation}",
      "GET /socket",
      "POST /actors/{name}/{operation}",
    ]);
  });

  test("an operation that is not exposed is neither listed nor there, nor is a method", async () => {
    const { paths } = await documentOf(gateway);
    const status = async (method: string, path: string): Promise<number> =>
      (await gateway.fetch(new Request(`http://x${path}`, { method }))).status;
    for (const path of [
      "/actors/notes/secret",
      "/actors/counts/write",
      "/actors/counts/forget",
      "/actors/nobody/write",
    ]) {
      expect(Object.keys(paths ?? {})).not.toContain(path);
      expect([await status("POST", path), await status("GET", path)]).toEqual([404, 404]);
    }
    for (const [path, methods] of Object.entries(paths ?? {})) {
      const names = Object.keys(methods).map((method) => method.toUpperCase());
      const allowed = [...names, ...(names.includes("GET") ? ["HEAD"] : []), "OPTIONS"].sort();
      const options = await gateway.fetch(new Request(`http://x${path}`, { method: "OPTIONS" }));
      expect([path, options.headers.get("allow")?.split(", ").sort()]).toEqual([path, allowed]);
      for (const method of ["get", "post", "put", "delete", "patch"]) {
        if (method in methods) continue;
        expect([path, method, await status(method.toUpperCase(), path)]).toEqual([path, method, 405]);
      }
    }
  });
});

test("P18: a stranger learns neither by OPTIONS nor by another method which operations there are", async () => {
  const { gateway } = notesService({ authenticate: () => undefined });
  const told = async (path: string): Promise<unknown> => {
    const answers = ["OPTIONS", "GET", "POST", "PUT"].map((method) =>
      gateway.fetch(new Request(`http://x${path}`, { method })),
    );
    return (await Promise.all(answers)).map(({ status, headers }) => [status, headers.get("allow")]);
  };
  expect(await told("/actors/notes/write")).toEqual(await told("/actors/nobody/nothing"));
});
