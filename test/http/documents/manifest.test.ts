import { describe, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import fc from "fast-check";
import {
  createGateway,
  type Manifest,
  type SignedManifest,
  signManifest,
  verifyManifest,
} from "../../../src/http/index";
import { createSystem, defineProtocol, Type } from "../../../src/index";
import { runs } from "../../property/runs";
import { notesService } from "./service";

const { privateKey, publicKey } = generateKeyPairSync("ed25519");

const MANIFEST: Manifest = {
  name: "notes",
  version: "1.0.0",
  protocols: { notes: { add: { pattern: "ask", input: { type: "number", maximum: 1e21, minimum: -1e-7 } } } },
  endpoints: [{ actor: "notes", protocol: "notes", operation: "add", methods: ["POST"], path: "/actors/notes/add" }],
  routes: [],
};
const SIGNED = signManifest(MANIFEST, privateKey);
const TEXT = JSON.stringify(SIGNED);

const kindOf = (manifest: unknown, key = publicKey): string | undefined =>
  verifyManifest(manifest, key).match(
    () => undefined,
    ({ kind }) => kind,
  );

describe("a signed manifest", () => {
  test("is verified as text and as an object, and given without its signature", () => {
    expect(verifyManifest(TEXT, publicKey)._unsafeUnwrap()).toEqual(MANIFEST);
    expect(verifyManifest(SIGNED, publicKey)._unsafeUnwrap()).toEqual(MANIFEST);
  });

  test("is the same in another order of keys, with other white space, and with numbers written in another way", () => {
    const { signature, name, ...rest } = SIGNED;
    expect(kindOf(JSON.stringify({ signature, ...rest, name }, null, 4))).toBeUndefined();
    expect(kindOf(TEXT.replace("1e+21", "1000000000000000000000").replace("-1e-7", "-0.0000001"))).toBeUndefined();
  });

  test("can be signed again, by a key in PEM, too", () => {
    const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    const publicPem = publicKey.export({ type: "spki", format: "pem" }).toString();
    expect(signManifest(SIGNED, pem)).toEqual(SIGNED); // Ed25519 has no chance in it.
    expect(verifyManifest(SIGNED, publicPem).isOk()).toBe(true);
  });

  test("with any part changed, left out or added is refused", () => {
    const places = placesIn(SIGNED);
    const change = fc.record({ place: fc.constantFrom(...places), value: fc.jsonValue(), isLeftOut: fc.boolean() });
    fc.assert(
      fc.property(change, ({ place, value, isLeftOut }) => {
        const changed: unknown = structuredClone(SIGNED);
        let node = changed as Record<string, unknown>; // Each place but the last is an object or an array.
        for (const key of place.slice(0, -1)) node = node[key] as Record<string, unknown>;
        const last = place.at(-1) ?? "";
        if (isLeftOut && !Array.isArray(node)) delete node[last];
        else node[last] = value;
        if (!Bun.deepEquals(changed, SIGNED)) expect(kindOf(JSON.stringify(changed))).toBeString();
      }),
      runs(300),
    );
  });
});

/** The places of all values in a value, and of a key that is not there beside each. */
function placesIn(value: unknown, before: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== "object" || value === null) return [];
  const own = Object.entries(value).flatMap(([key, each]) => [[...before, key], ...placesIn(each, [...before, key])]);
  return Array.isArray(value) ? own : [...own, [...before, "extra"], [...before, "constructor"]];
}

describe("a hostile manifest is refused:", () => {
  const value = SIGNED.signature.value;
  const withSignature = (signature: unknown): string => JSON.stringify({ ...MANIFEST, signature });
  test.each<[string, unknown, string]>([
    ["a key twice, the second as it was signed", `{"name":"evil",${TEXT.slice(1)}`, "invalid-manifest"],
    ["a key twice, written with an escape", TEXT.replace("{", '{"n\\u0061me":"evil",'), "invalid-manifest"],
    ["a key twice, deep within", TEXT.replace('"pattern"', '"pattern":"tell","pattern"'), "invalid-manifest"],
    ["an extra key", TEXT.replace("{", '{"extra":1,'), "wrong-signature"],
    ["an extra __proto__", TEXT.replace("{", '{"__proto__":{"admin":true},'), "wrong-signature"],
    ["an extra key beside the signature's value", withSignature({ ...SIGNED.signature, by: "me" }), "invalid-manifest"],
    ["another algorithm", withSignature({ ...SIGNED.signature, algorithm: "none" }), "invalid-manifest"],
    ["no signature", JSON.stringify(MANIFEST), "unsigned"],
    ["a signature that is null", withSignature(null), "invalid-manifest"],
    ["an empty signature", withSignature({ algorithm: "Ed25519", value: "" }), "invalid-manifest"],
    ["a signature of zeros", withSignature({ algorithm: "Ed25519", value: "A".repeat(86) }), "wrong-signature"],
    ["a signature with padding", withSignature({ algorithm: "Ed25519", value: `${value}==` }), "invalid-manifest"],
    [
      "a signature with other spare bits",
      withSignature({ algorithm: "Ed25519", value: value.slice(0, 85) + sibling(value.slice(85)) }),
      "invalid-manifest",
    ],
    ["a letter in another form of Unicode", textWith("Zo\u00eb", "Zoe\u0308"), "wrong-signature"],
    ["a number that is rounded otherwise", TEXT.replace("1e+21", "1000000000000000100000"), "wrong-signature"],
    ["a number beyond all", TEXT.replace("1e+21", "1e999"), "invalid-manifest"],
    ["half of a character", TEXT.replace('"notes"', '"\\ud800"'), "invalid-manifest"],
    ["nesting without end", `${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}`, "invalid-manifest"],
    ["no JSON", "manifest", "invalid-manifest"],
    ["nothing", "", "invalid-manifest"],
    ["undefined", undefined, "invalid-manifest"],
    ["null", null, "invalid-manifest"],
    ["an array", [SIGNED], "invalid-manifest"],
    ["no manifest, but well signed", signed({ order: 66 }), "invalid-manifest"],
  ])("%s", (_, manifest, kind) => {
    const verified = verifyManifest(manifest, publicKey);
    expect(verified._unsafeUnwrapErr().kind).toBe(kind as "unsigned");
    expect(verified._unsafeUnwrapErr().message).toMatch(/^The manifest .+\.$/);
  });

  test("minus zero is zero, as all readers of JSON that are no JavaScript have it", () => {
    const zero = signManifest(
      { ...MANIFEST, protocols: { a: { b: { pattern: "ask", input: { minimum: 0 } } } } },
      privateKey,
    );
    expect(kindOf(JSON.stringify(zero).replace('"minimum":0', '"minimum":-0'))).toBeUndefined();
  });

  test("one that another key has signed", () => {
    expect(kindOf(signManifest(MANIFEST, generateKeyPairSync("ed25519").privateKey))).toBe("wrong-signature");
  });
});

/** Signs a name, and puts another one in its place. */
function textWith(name: string, other: string): string {
  return JSON.stringify({ ...signManifest({ ...MANIFEST, name }, privateKey), name: other });
}

// What no compiler would take for a manifest.
const signed = (value: object): SignedManifest => signManifest(value as Manifest, privateKey);

/** Another letter of base64url with the same two first bits. */
function sibling(letter: string): string {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  return letters[letters.indexOf(letter) ^ 1] ?? "";
}

describe("a key that cannot be one is refused at once:", () => {
  const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
  test("of another algorithm", () => {
    expect(() => signManifest(MANIFEST, rsa.privateKey)).toThrow(/private Ed25519 key.*got a private key \(rsa\)/);
    expect(() => verifyManifest(TEXT, rsa.publicKey)).toThrow(/public Ed25519 key.*got a public key \(rsa\)/);
  });

  test("the other one of its pair", () => {
    expect(() => signManifest(MANIFEST, publicKey)).toThrow(TypeError);
    expect(() => verifyManifest(TEXT, privateKey)).toThrow(TypeError);
  });

  test("a text that is no PEM, and the text is not told", () => {
    expect(() => signManifest(MANIFEST, "my secret")).toThrow("The private key of a manifest cannot be read");
    expect(() => signManifest(MANIFEST, "my secret")).not.toThrow("my secret");
  });

  test("by a gateway, when it is made", () => {
    expect(() => notesService({ manifest: { key: publicKey } })).toThrow(/private Ed25519 key/);
  });
});

describe("the manifest of a gateway", () => {
  test("has the name, the version, the exposed operations with their schemas, and where they are", async () => {
    const { get } = notesService({ basePath: "/api" });
    const response = await get("/api/manifest");
    const manifest = (await response.json()) as Manifest;
    expect(response.headers.get("content-type")).toBe("application/json");
    expect([manifest.name, manifest.version]).toEqual(["notes-service", "1.2.3"]);
    expect(Object.keys(manifest.protocols)).toEqual(["notes"]);
    expect(Object.keys(manifest.protocols["notes"] ?? {})).not.toContain("secret");
    expect(manifest.protocols["notes"]?.["drop"]).toEqual({
      hints: { destructive: true },
      pattern: "tell",
      input: { $schema: "https://json-schema.org/draft/2020-12/schema", type: "integer" },
      isInputRequired: true,
    });
    expect(manifest.endpoints).toContainEqual({
      actor: "counts",
      protocol: "notes",
      operation: "count",
      methods: ["GET", "POST"],
      path: "/api/actors/counts/count",
    });
    expect(manifest.endpoints).toContainEqual({
      actor: "notes",
      protocol: "notes",
      operation: "follow",
      methods: ["POST"],
      path: "/api/actors/notes/follow",
      resume: true,
    });
    expect(manifest.routes.map(({ path }) => path)).toContain("/api/health/live");
  });

  test("is signed on request", async () => {
    const { get } = notesService({ manifest: { key: privateKey } });
    const plain = (await (await get("/manifest")).json()) as SignedManifest;
    expect(plain.signature).toBeUndefined();
    expect(await (await get("/manifest?signed=false")).json()).toEqual(plain);
    for (const query of ["?signed", "?signed=", "?signed=true"]) {
      const text = await (await get(`/manifest${query}`)).text();
      expect(verifyManifest(text, publicKey)._unsafeUnwrap()).toEqual(plain);
    }
    expect((await get("/manifest?signed=perhaps")).status).toBe(400);
  });

  test("is not signed without a key, and says so", async () => {
    const { get } = notesService();
    const response = await get("/manifest?signed");
    expect(response.status).toBe(404);
    expect(await response.text()).toContain("not signed");
  });

  test("tells protocols of one name apart", async () => {
    await using system = createSystem();
    const first = defineProtocol("twin", { ask: { reply: Type.String() } });
    const second = defineProtocol("twin", { tell: { payload: Type.String() } });
    const a = system.spawn("a", first, () => ({ ask: () => "" }));
    const b = system.spawn("b", second, () => ({ tell() {} }));
    const gateway = createGateway(system, {
      expose: { a: { ref: a, operations: ["ask"] }, b: { ref: b, operations: ["tell"] } },
    });
    const manifest = (await (await gateway.fetch(new Request("http://x/manifest"))).json()) as Manifest;
    expect(Object.keys(manifest.protocols)).toEqual(["twin", "twin-2"]);
    expect(manifest.endpoints.map(({ protocol }) => protocol)).toEqual(["twin", "twin-2"]);
  });

  test("is for callers who may read it; so is each page but those of health", async () => {
    const { gateway } = notesService({
      metrics: true,
      authenticate: (request) => {
        const id = request.headers.get("x-caller");
        return id === null ? undefined : { id };
      },
      authorize: (caller, actor, operation) => caller?.id === "ann" && actor.startsWith("/") && operation === "read",
    });
    for (const path of ["/manifest", "/openapi.json", "/metrics"]) {
      const statuses: number[] = [];
      for (const caller of [undefined, "ann", "bob"]) {
        const headers: Record<string, string> = caller === undefined ? {} : { "x-caller": caller };
        statuses.push((await gateway.fetch(new Request(`http://x${path}`, { headers }))).status);
      }
      expect([path, ...statuses]).toEqual([path, 401, 200, 403]);
    }
    for (const path of ["/health", "/health/live", "/health/ready"]) {
      expect((await gateway.fetch(new Request(`http://x${path}`))).status).toBe(200);
    }
  });

  test("and the other pages are there or not, as the options say", async () => {
    const paths = ["/openapi.json", "/manifest", "/health", "/metrics"];
    const statuses = async (options: Parameters<typeof notesService>[0]) => {
      const { get } = notesService(options);
      return Promise.all(paths.map(async (path) => (await get(path)).status));
    };
    expect(await statuses({})).toEqual([200, 200, 200, 404]);
    expect(await statuses({ metrics: true })).toEqual([200, 200, 200, 200]);
    expect(await statuses({ openapi: false, manifest: false, health: false, metrics: false })).toEqual(
      paths.map(() => 404),
    );
  });
});
