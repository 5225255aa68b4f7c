import { describe, expect, test } from "bun:test";
import { LOCAL, local, serve, web } from "../kit";

/** A server whose path says where it redirects to, and how: `/302?to=https://…`; any other path is answered. */
const redirecting = (request: Request): Response => {
  const { pathname, searchParams } = new URL(request.url);
  const given = searchParams.get("to");
  const location = given === "LONG" ? `/public/${"a".repeat(9_000)}` : given;
  const status = Number(pathname.slice(1));
  return location === null || !(status >= 300)
    ? new Response("end")
    : new Response(null, { status, headers: { location } });
};
const to = (location: string, status = 302): string => `/${status}?to=${encodeURIComponent(location)}`;

describe("where a redirect leads", () => {
  test.each([
    ["another host", "http://other.test/"],
    ["an address of this machine", "http://127.0.0.1/"],
    ["a path that is not allowed", "/private/"],
    ["a path that climbs", "/public/..%2fprivate/"],
    ["another scheme", "https://a.test/public/"],
    ["another scheme, relatively", "//other.test/public/"],
    ["a file", "file:///etc/passwd"],
    ["data", "data:text/plain,hello"],
    ["a user and a password", "http://user:pass@a.test/public/"],
    ["nothing that is a URL", "http://"],
    ["a host that cannot be", "http://exa$mple.test/"],
    ["something very long", "LONG"],
  ])("to %s: refused, and not asked for", async (_, location) => {
    await using server = serve(redirecting);
    const at = `http://a.test:${server.port}`;
    await using tool = web({ allow: [local(`${at}/302`), local(`${at}/public/*`)] });
    const told = await tool.get(at + to(location.replace("a.test", `a.test:${server.port}`)));
    expect(told).toMatchObject({ kind: "redirect-refused" });
    expect(JSON.stringify(told).length).toBeLessThan(1_000);
    expect(server.heard.length).toBe(1);
  });

  test("an address that is not public is refused, though any host is allowed", async () => {
    await using server = serve(redirecting);
    await using inner = serve(undefined, { hostname: "127.0.0.2" });
    const at = `http://a.test:${server.port}`;
    await using tool = web({ allow: [local(`${at}/*`, { addresses: ["127.0.0.1"] }), "http://*:*/*"] });
    for (const host of ["127.0.0.2", "127.2", "2130706434", "[::ffff:127.0.0.2]", "inside.test"]) {
      const told = await tool.get(at + to(`http://${host}:${inner.port}/`));
      expect(told).toMatchObject({ kind: "address-refused" });
    }
    expect(inner.heard).toEqual([]);
  });

  test("what is allowed is followed, also relatively, up to a number", async () => {
    await using server = serve(redirecting);
    const at = `http://a.test:${server.port}`;
    await using tool = web({ allow: [local(`${at}/*`)], maxRedirects: 2 });
    expect(await tool.get(at + to("end"))).toMatchObject({ status: 200, url: `${at}/end` });
    expect(await tool.get(at + to(to(`${at}/end`)))).toMatchObject({ status: 200 });
    expect(await tool.get(at + to(to(to("/end"))))).toMatchObject({
      kind: "redirect-refused",
      message: expect.stringContaining("2 times"),
    });
    await using circle = web({ allow: [local(`${at}/*`)] });
    const before = server.heard.length;
    expect(await circle.get(`${at}/300?to=/end`)).toMatchObject({ status: 300 }); // It is a choice, and no redirect.
    expect(await tool.get(at + to(""))).toMatchObject({ kind: "redirect-refused" }); // To itself.
    expect(server.heard.length).toBe(before + 4);
    await using none = web({ allow: [local(`${at}/*`)], maxRedirects: 0 });
    expect(await none.get(at + to("/end"))).toMatchObject({ kind: "redirect-refused" });
  });
});

describe("what a redirect takes along", () => {
  test("the owner's headers go to the URLs of their own rule, and to no other", async () => {
    await using server = serve(redirecting);
    const at = (host: string) => `http://${host}:${server.port}`;
    await using tool = web({
      allow: [
        local(`${at("a.test")}/*`, { headers: { Authorization: "Bearer of-a", cookie: "c=1" } }),
        local(`${at("b.test")}/open/*`),
        local(`${at("b.test")}/*`, { headers: { authorization: "Bearer of-b" } }),
      ],
    });
    const sent = () => server.heard.splice(0).map(({ headers }) => [headers["authorization"], headers["cookie"]]);
    await tool.get(at("a.test") + to("/end"));
    expect(sent()).toEqual([
      ["Bearer of-a", "c=1"],
      ["Bearer of-a", "c=1"],
    ]);
    await tool.get(at("a.test") + to(`${at("b.test")}/open/`));
    expect(sent()).toEqual([
      ["Bearer of-a", "c=1"],
      [undefined, undefined],
    ]);
    await tool.get(at("a.test") + to(`${at("b.test")}/end`));
    expect(sent()).toEqual([
      ["Bearer of-a", "c=1"],
      ["Bearer of-b", undefined],
    ]);
  });

  test("the caller's headers go to their own origin only", async () => {
    await using server = serve(redirecting);
    const at = (host: string) => `http://${host}:${server.port}`;
    await using tool = web({ allow: [local(`http://*:${server.port}/*`)], requestHeaders: ["x-token"] });
    const headers = { "x-token": "t", accept: "text/html", "if-none-match": '"1"' };
    await tool.get(at("a.test") + to("/end"), { headers });
    expect(server.heard[1]?.headers).toMatchObject(headers);
    await tool.get(at("a.test") + to(`${at("b.test")}/end`), { headers });
    expect(server.heard[3]?.headers).toMatchObject({ accept: "text/html", host: `b.test:${server.port}` });
    expect(server.heard[3]?.headers).not.toHaveProperty("x-token");
    expect(server.heard[3]?.headers).not.toHaveProperty("if-none-match");
  });

  test.each([
    [301, "POST", "GET", ""],
    [302, "POST", "GET", ""],
    [303, "POST", "GET", ""],
    [303, "PUT", "GET", ""],
    [301, "PUT", "PUT", "it"],
    [307, "POST", "POST", "it"],
    [308, "POST", "POST", "it"],
  ] as const)("%d: %s becomes %s", async (status, method, next, body) => {
    await using server = serve(redirecting);
    const at = `http://a.test:${server.port}`;
    await using tool = web({ allow: [local(`${at}/*`, { methods: ["GET", "POST", "PUT"] })] });
    const headers = { "content-type": "text/plain", "content-language": "en" };
    expect(await tool.send(method, at + to("/end", status), { body: "it", headers })).toMatchObject({ status: 200 });
    expect(server.heard[1]).toMatchObject({ method: next, body });
    expect("content-language" in (server.heard[1]?.headers ?? {})).toBe(next !== "GET");
  });

  test("the method of the next request has to be allowed there", async () => {
    await using server = serve(redirecting);
    const at = `http://a.test:${server.port}`;
    await using tool = web({ allow: [local(`${at}/307`, { methods: ["POST"] }), local(`${at}/end`)] });
    expect(await tool.send("POST", at + to("/end", 307), { body: "it" })).toMatchObject({ kind: "redirect-refused" });
    expect(server.heard.length).toBe(1);
  });

  test("no cookie of an answer is kept, sent or shown", async () => {
    await using server = serve(() => new Response("it", { headers: { "set-cookie": "a=b" } }));
    const at = `http://a.test:${server.port}`;
    await using tool = web({ allow: [{ url: `${at}/*`, addresses: LOCAL }] });
    for (let times = 0; times < 2; times++)
      expect(await tool.get(`${at}/`)).not.toHaveProperty(["headers", "set-cookie"]);
    expect(server.heard[1]?.headers).not.toHaveProperty("cookie");
  });
});
