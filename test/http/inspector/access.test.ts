import { describe, expect, test } from "bun:test";
import { anyOf, apiKeys, bearerTokens, createGateway } from "../../../src/http/index";
import { createSystem } from "../../../src/index";
import { expectProblem } from "../counter";
import { inspected, spawnWorker } from "./service";

const authenticate = bearerTokens({ "owner-token": "ada", "guest-token": "eve" });
const authorize = (caller: { readonly id: string } | undefined, actor: string, operation: string): boolean =>
  actor !== "/inspect" || (operation === "read" && caller?.id === "ada");
const guarded = () => inspected({ inspector: true, authenticate, authorize });

const OWNER = { authorization: "Bearer owner-token" };
const GUEST = { authorization: "Bearer guest-token" };
const BROWSER = { accept: "text/html,application/xhtml+xml" };

describe("The inspector", () => {
  test("is not there unless it is asked for", async () => {
    const { get } = inspected({});
    for (const path of ["/inspect", "/inspect/live"]) await expectProblem(await get(path), 404, "not-found");
  });

  test("P18: cannot be had without asking who calls, unless its owner says that it is open", () => {
    const create = (options: object) => () => createGateway(createSystem(), { expose: {}, ...options });
    expect(create({ inspector: true })).toThrow(TypeError);
    expect(create({ inspector: true })).toThrow("inspector: { isOpen: true }");
    expect(create({ inspector: {} })).toThrow("give authenticate");
    expect(create({ inspector: { isOpen: true } })).not.toThrow();
    expect(create({ inspector: true, authenticate })).not.toThrow();
  });

  test.each([
    ["every", 50, "milliseconds from 100"],
    ["every", Number.POSITIVE_INFINITY, "60,000"],
    ["log", 0, "whole number from 1"],
    ["isOpen", 1, "true or false"],
    ["open", true, 'There is no option "open"'],
  ])("refuses the option %s: %p", (name, value, sentence) => {
    const create = () => createGateway(createSystem(), { expose: {}, authenticate, inspector: { [name]: value } });
    expect(create).toThrow(sentence);
  });

  test("P18: is refused to strangers and to callers who may not, page and data", async () => {
    const { get, system } = guarded();
    spawnWorker(system, "secret-name");
    for (const path of ["/inspect", "/inspect/live"]) {
      const stranger = await get(path);
      expect(stranger.headers.get("www-authenticate")).toContain("Bearer");
      await expectProblem(stranger, 401, "unauthenticated");
      await expectProblem(await get(path, { authorization: "Bearer wrong" }), 401, "unauthenticated");
      await expectProblem(await get(path, GUEST), 403, "forbidden");
      expect((await get(path, OWNER)).status).toBe(200);
    }
  });

  test("gives a browser the refusal as a page that asks for credentials, and that knows nothing of the system", async () => {
    const { get, system } = guarded();
    spawnWorker(system, "secret-name");
    const refused = await get("/inspect", BROWSER);
    expect(refused.status).toBe(401);
    expect(refused.headers.get("www-authenticate")).toContain("Bearer");
    expect(refused.headers.get("content-type")).toContain("text/html");
    const text = await refused.text();
    expect(text).toContain('name="credentials" content="authorization"');
    expect(text).not.toMatch(/secret-name|shop|1\.2\.3/);
    expect((await get("/inspect", { ...BROWSER, ...GUEST })).status).toBe(403);
    const page = await get("/inspect", { ...BROWSER, ...OWNER });
    expect(page.status).toBe(200);
    expect(await page.text()).toBe(text);
  });

  test("counts against the limits of its caller: streams, and rates", async () => {
    const limited = inspected({ inspector: { isOpen: true }, limits: { streams: 1 } });
    await using first = await limited.look();
    expect(first.status).toBe(200);
    await expectProblem(await limited.get("/inspect/live"), 429, "too-many-requests");
    const rated = inspected({ inspector: true, authenticate, rateLimit: "2/min" });
    expect((await rated.get("/inspect", OWNER)).status).toBe(200);
    expect((await rated.get("/inspect", OWNER)).status).toBe(200);
    await expectProblem(await rated.get("/inspect/live", OWNER), 429, "too-many-requests");
    await expectProblem(await rated.get("/inspect", { ...BROWSER, ...OWNER }), 429, "too-many-requests");
  });

  test.each([
    ["open=key", "open is"],
    ["open=x.key", "open is"],
    [`open=0.${"k".repeat(601)}`, "open is"],
    [Array.from({ length: 151 }, (_, index) => `open=0.${index}`).join("&"), "At most 150"],
    [`find=${"f".repeat(601)}`, "find has at most"],
    ["order=__proto__", "order is one of"],
    ["logged=-1", "logged is a number"],
    ["since=yesterday", "since is a number"],
  ])("refuses the query %.30s", async (query, sentence) => {
    const { get } = inspected();
    expect(await expectProblem(await get(`/inspect/live?${query}`), 400, "bad-request")).toContain(sentence);
  });
});

describe("The page of the inspector", () => {
  test("loads nothing but its own files, by names that change with their content, and runs nothing inline", async () => {
    const { get } = inspected();
    const page = await get("/inspect");
    const policy = page.headers.get("content-security-policy") ?? "";
    expect(policy).toStartWith("default-src 'none'; ");
    expect(policy).not.toContain("unsafe");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("require-trusted-types-for 'script'");
    expect(page.headers.get("x-frame-options")).toBe("DENY");
    expect(page.headers.get("x-content-type-options")).toBe("nosniff");
    expect(page.headers.get("referrer-policy")).toBe("no-referrer");
    const html = await page.text();
    expect(html).not.toMatch(/<style|\sstyle=|\son\w+=|https?:|\{\w+\}/);
    expect(html.match(/<script[^>]*>(?!<\/script>)/)).toBeNull();
    const files = [...html.matchAll(/(?:src|href)="(inspect\/[^"]+)"/g)].map(([, path]) => path);
    expect(files.length).toBe(3);
    for (const path of files) {
      expect(path).toMatch(/-[0-9a-f]{16}\.\w+$/);
      const file = await get(`/${path}`);
      expect(file.status).toBe(200);
      expect(file.headers.get("cache-control")).toContain("immutable");
      expect(file.headers.get("content-security-policy")).toBe(policy);
      expect(await file.text()).not.toMatch(/innerHTML|\beval\(|document\.write|https?:\/\/(?!www\.w3\.org)/);
    }
  });

  test("is sent once: an ETag answers 304 afterwards, and a file of another version is not there", async () => {
    const { get } = inspected();
    const etag = (await get("/inspect")).headers.get("etag") ?? "";
    expect(etag).toMatch(/^"[0-9a-f]{16}"$/);
    const again = await get("/inspect", { "if-none-match": etag });
    expect(again.status).toBe(304);
    expect(await again.text()).toBe("");
    for (const name of ["page-0000000000000000.js", "__proto__", "main.ts", "..%2Findex.html"]) {
      await expectProblem(await get(`/inspect/${name}`), 404, "not-found");
    }
  });

  test("names the headers that credentials are sent in", async () => {
    const either = anyOf(authenticate, apiKeys({ keys: { "k3y-of-robot": "robot" } }));
    const { get } = inspected({ inspector: true, authenticate: either });
    expect(await (await get("/inspect", BROWSER)).text()).toContain('content="authorization x-api-key"');
  });

  test("is found below the base path of its gateway, by paths that are relative to it", async () => {
    const { get } = inspected({ inspector: { isOpen: true }, basePath: "/api" });
    const html = await (await get("/api/inspect")).text();
    const files = [...html.matchAll(/(?:src|href)="([^"#]+)"/g)].map(([, path = ""]) => path);
    expect(files.length).toBe(3);
    for (const path of files) expect((await get(new URL(path, "http://x/api/inspect").pathname)).status).toBe(200);
    expect((await get("/inspect")).status).toBe(404);
  });
});
