import { expect, test } from "bun:test";
import { FetchRefusal } from "../../../src/tools/fetch/fetch-error";
import { limitsOf } from "../../../src/tools/fetch/options";
import { ruleFor } from "../../../src/tools/fetch/rules";
import { targetOf } from "../../../src/tools/fetch/target";

/** Whether a pattern allows a URL. */
function allows(pattern: string, url: string, method = "GET"): boolean {
  try {
    ruleFor(limitsOf({ allow: [pattern] }).rules, targetOf(url), method);
    return true;
  } catch (thrown) {
    if (thrown instanceof FetchRefusal) return false;
    throw thrown;
  }
}

test.each([
  ["https://api.example.com/*", "https://api.example.com/"],
  ["https://api.example.com/*", "https://API.EXAMPLE.COM:443/a/b?c=d"],
  ["HTTPS://API.example.com/*", "https://api.example.com/a"],
  ["https://api.example.com/v1/*", "https://api.example.com/v1/"],
  ["https://api.example.com/v1/*/items", "https://api.example.com/v1/a/b/items"],
  ["https://api.example.com/v1", "https://api.example.com/v1?any=query"],
  ["https://api.example.com/a*b*c", "https://api.example.com/aXbYbc"],
  ["https://*.example.com/*", "https://a.example.com/"],
  ["https://*.example.com/*", "https://a.b.example.com/"],
  ["https://*/*", "https://anything.test/"],
  ["https://*:*/*", "https://anything.test:8443/"],
  ["http://localhost:3000/*", "http://localhost:3000/a"],
  ["https://bücher.test/ü/*", "https://xn--bcher-kva.test/%C3%BC/1"],
  ["http://[::1]:80/*", "http://[0:0::1]/"],
  ["http://127.0.0.1/*", "http://2130706433/"],
])("%s allows %s", (pattern, url) => expect(allows(pattern, url)).toBe(true));

test.each([
  ["https://api.example.com/*", "http://api.example.com/"],
  ["https://api.example.com/*", "https://api.example.com:8443/"],
  ["https://api.example.com/*", "https://example.com/"],
  ["https://api.example.com/*", "https://api.example.com.evil.test/"],
  ["https://api.example.com/*", "https://evil.test/api.example.com/"],
  ["https://api.example.com/*", "https://evil.test/?https://api.example.com/"],
  ["https://api.example.com/*", "https://xapi.example.com/"],
  ["https://*.example.com/*", "https://example.com/"],
  ["https://*.example.com/*", "https://evilexample.com/"],
  ["https://*.example.com/*", "https://example.com.evil.test/"],
  ["https://api.example.com/v1/*", "https://api.example.com/v1"],
  ["https://api.example.com/v1/*", "https://api.example.com/v1/../v2/"],
  ["https://api.example.com/v1/*", "https://api.example.com/v1/%2e%2e/v2/"],
  ["https://api.example.com/v1/*", "https://api.example.com/V1/a"],
  ["https://api.example.com/v1", "https://api.example.com/v1/"],
  ["https://api.example.com/a*b*c", "https://api.example.com/abXc/"],
  ["https://api.example.com/a*ba", "https://api.example.com/aba/ba/"],
  ["https://api.example.com/ab*ba", "https://api.example.com/aba"],
  ["https://*/*", "https://anything.test:8443/"],
  ["https://*/*", "http://anything.test/"],
])("%s does not allow %s", (pattern, url) => expect(allows(pattern, url)).toBe(false));

test("nothing is allowed unless the owner says so", () => {
  expect(limitsOf({}).rules).toEqual([]);
  expect(() => ruleFor([], targetOf("https://example.com/"), "GET")).toThrow();
});

test("a rule says which methods may be used; the first one that allows the request is taken", () => {
  const { rules } = limitsOf({
    allow: [
      "https://a.test/*",
      { url: "https://a.test/jobs/*", methods: ["POST"], headers: { "x-key": "1" } },
      { url: "https://a.test/jobs/*", methods: ["POST", "DELETE"] },
    ],
  });
  const rule = (method: string, url: string) => rules.indexOf(ruleFor(rules, targetOf(url), method));
  expect(rule("GET", "https://a.test/jobs/1")).toBe(0);
  expect(rule("POST", "https://a.test/jobs/1")).toBe(1);
  expect(rule("DELETE", "https://a.test/jobs/1")).toBe(2);
  let refusal: unknown;
  try {
    rule("PUT", "https://a.test/jobs/1");
  } catch (thrown) {
    refusal = thrown;
  }
  expect(refusal).toMatchObject({
    kind: "not-allowed",
    message: expect.stringContaining("GET or HEAD or POST or DELETE"),
  });
});

/** The error for options of an owner who ignores the types; "none" if they are accepted. */
function fault(options: unknown): string {
  try {
    limitsOf(options as object);
  } catch (error) {
    return String(error);
  }
  return "none";
}

test("an option that cannot be one is refused with what to write", () => {
  for (const options of [null, "https://a.test/*", 7, []]) expect(fault(options)).toContain("{ allow: [");
  expect(fault({ allowed: [] })).toMatch(/no option "allowed".*allow/);
  expect(fault({ allow: "https://a.test/*" })).toContain('["https://api.example.com/*"]');
  for (const url of [
    "a.test",
    "a.test/*",
    "https://a.test",
    "ftp://a.test/*",
    "*://a.test/*",
    "https://user@a.test/*",
    "https://a.*/*",
    "https://a*.test/*",
    "https://*.*.test/*",
    "https://a.test:0/*",
    "https://a.test:99999/*",
    "https://a.test/?q=*",
    "https://a.test/#*",
    "https://a b.test/*",
    "",
    7,
    null,
  ]) {
    expect(fault({ allow: [{ url }] })).toContain("A URL of allow");
  }
  const rule = (more: object) => fault({ allow: [{ url: "https://a.test/*", ...more }] });
  expect(rule({ method: "GET" })).toMatch(/no option "method".*methods/);
  for (const methods of ["GET", [], ["get"], ["CONNECT"], ["TRACE"], [7]])
    expect(rule({ methods })).toContain("methods");
  for (const addresses of ["127.0.0.1", ["localhost"], ["10.0.0.0/33"], [7]]) {
    expect(rule({ addresses })).toContain("10.1.0.0/16");
  }
  expect(rule({ ca: "a file" })).toContain("PEM");
  for (const headers of ["a: b", ["a"], { "a b": "c" }, { a: "b\r\nc: d" }, { a: 7 }, { ä: "b" }]) {
    expect(rule({ headers })).toStartWith("TypeError: The header");
  }
  for (const name of ["Host", "connection", "transfer-encoding", "content-length", "proxy-authorization", "upgrade"]) {
    expect(rule({ headers: { [name]: "a" } })).toContain("belongs to the connection");
    expect(fault({ requestHeaders: [name] })).toContain("cannot set");
  }
  expect(rule({ headers: { authorization: "Bearer s3cret\n" } })).not.toContain("s3cret");
  expect(fault({ allow: [{ url: "https://*/*", headers: { authorization: "Bearer s3cret" } }] })).toMatch(
    /any host.*name/,
  );
  for (const name of [
    "maxRequestBytes",
    "maxReplyBytes",
    "maxStreamBytes",
    "timeout",
    "streamTimeout",
    "concurrency",
  ]) {
    for (const value of [0, -1, 1.5, Number.POSITIVE_INFINITY, "1"]) expect(fault({ [name]: value })).toContain(name);
  }
  expect(fault({ maxRedirects: -1 })).toContain("from 0");
  expect(fault({ maxRedirects: 0 })).toBe("none");
  expect(fault({ resolve: "127.0.0.1" })).toContain("resolve");
});
