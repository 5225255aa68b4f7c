import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { ResolveHost } from "../../../../src/tools";
import { certificate, LOCAL, serve, web } from "../kit";

describe("the address that was checked is the one that is connected to", () => {
  test("P18: a name that changes its address after the check gains nothing", async () => {
    await using outer = serve(() => new Response("outer"), { hostname: "127.0.0.1" });
    await using inner = serve(() => new Response("inner"), { hostname: "127.0.0.2", port: outer.port });
    const at = `http://rebind.test:${outer.port}`;
    let asked = 0;
    // 127.0.0.1 stands for what may be asked, and 127.0.0.2 for what may not.
    const resolve: ResolveHost = () => [asked++ === 0 ? "127.0.0.1" : "127.0.0.2"];
    await using tool = web({ allow: [{ url: `${at}/*`, addresses: ["127.0.0.1"] }], resolve });
    expect(await tool.get(`${at}/`)).toMatchObject({ content: "outer" });
    expect(asked).toBe(1); // Nobody else looked it up: the machine knows no such name.
    expect(await tool.get(`${at}/`)).toMatchObject({ kind: "address-refused" });
    expect(inner.heard).toEqual([]);
  });

  test("a redirect to the same name is looked up and checked anew", async () => {
    await using outer = serve((request) => {
      const { pathname } = new URL(request.url);
      return pathname === "/"
        ? new Response(null, { status: 302, headers: { location: "/next" } })
        : new Response("outer");
    });
    await using inner = serve(() => new Response("inner"), { hostname: "127.0.0.2", port: outer.port });
    const at = `http://rebind.test:${outer.port}`;
    let asked = 0;
    const resolve: ResolveHost = () => [asked++ === 0 ? "127.0.0.1" : "127.0.0.2"];
    await using tool = web({ allow: [{ url: `${at}/*`, addresses: ["127.0.0.1"] }], resolve });
    expect(await tool.get(`${at}/`)).toMatchObject({ kind: "address-refused" });
    expect(inner.heard).toEqual([]);
    expect(asked).toBe(2);
  });

  test("over TLS, the name is checked against the certificate of the address", async () => {
    await using server = serve(undefined, { isSecure: true });
    await using other = serve(undefined, { isSecure: true, hostname: "127.0.0.2", port: server.port });
    const at = (host: string) => `https://${host}:${server.port}`;
    await using tool = web({
      allow: [{ url: `https://*:*/*`, addresses: LOCAL, ca: certificate }],
      resolve: (host) => [host.startsWith("api") ? "127.0.0.1" : "127.0.0.2"],
    });
    // One after the other and at once, so that no connection of one name serves another.
    const hosts = ["api.example.com", "www.example.com", "evil.test", "api.example.com", "evil.test"];
    const told = await Promise.all(hosts.map((host) => tool.get(`${at(host)}/`)));
    expect(told.map((each) => ("status" in each ? each.status : each.kind))).toEqual([
      200,
      200,
      "insecure",
      200,
      "insecure",
    ]);
    expect(server.heard.map(({ headers }) => headers["host"])).toEqual(Array(2).fill(`api.example.com:${server.port}`));
    expect(other.heard.map(({ headers }) => headers["host"])).toEqual([`www.example.com:${server.port}`]);
  });

  test("no proxy of the environment comes between", async () => {
    await using proxy = serve(() => new Response("by the proxy"));
    const program = join(import.meta.dir, "../programs/behind-proxy.ts");
    const url = `http://127.0.0.1:${proxy.port}`;
    const names = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
    const proxied = Object.fromEntries(names.map((name) => [name, url]));
    const env = { ...process.env, ...proxied, NO_PROXY: "", no_proxy: "", NODE_TLS_REJECT_UNAUTHORIZED: "0" };
    const child = Bun.spawn([process.execPath, program], { env, stdout: "pipe", stderr: "inherit" });
    expect(await new Response(child.stdout).json()).toEqual({
      plain: "direct",
      secure: "insecure",
      naive: "by the proxy",
    });
    expect(proxy.heard.length).toBe(1);
  });
});

describe("addresses that are not public", () => {
  test.each([
    "http://127.0.0.1/",
    "http://127.1/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0177.0.0.1/",
    "http://017700000001/",
    "http://①②⑦.⓪.⓪.①/",
    "http://0/",
    "http://0.0.0.0/",
    "http://[::]/",
    "http://[::1]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[::127.0.0.1]/",
    "http://[64:ff9b::127.0.0.1]/",
    "http://[2002:7f00:1::]/",
    "http://[fe80::1]/",
    "http://[fd00:ec2::254]/",
    "http://10.0.0.1/",
    "http://172.16.0.1/",
    "http://192.168.1.1/",
    "http://100.64.0.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://168.63.129.16/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
  ])("%s is refused, though its owner allows any host", async (url) => {
    await using tool = web({ allow: ["http://*:*/*"] });
    expect(await tool.get(url)).toMatchObject({ kind: "address-refused" });
  });

  test("a name that leads to them is refused, whatever its owner allows", async () => {
    await using server = serve();
    const at = `http://inside.test:${server.port}`;
    for (const address of ["127.0.0.1", "::1", "::ffff:127.0.0.1", "10.0.0.1", "169.254.169.254", "0.0.0.0"]) {
      await using tool = web({ allow: ["http://*:*/*"], resolve: () => [address] });
      expect(await tool.get(`${at}/`)).toMatchObject({ kind: "address-refused" });
    }
    // By the resolver of the machine.
    await using tool = web({ allow: ["http://*:*/*"], resolve: undefined as never });
    expect(await tool.get(`http://localhost:${server.port}/`)).toMatchObject({ kind: "address-refused" });
    expect(server.heard).toEqual([]);
  });

  test("a rule opens the addresses that it names, for its own URLs", async () => {
    await using server = serve();
    const at = (host: string) => `http://${host}:${server.port}`;
    await using tool = web({
      allow: [{ url: `${at("localhost")}/open/*`, addresses: ["127.0.0.1", "::1"] }, "http://*:*/*"],
      resolve: undefined as never,
    });
    expect(await tool.get(`${at("localhost")}/open/a`)).toMatchObject({ status: 200 });
    expect(await tool.get(`${at("localhost")}/a`)).toMatchObject({ kind: "address-refused" });
    expect(await tool.get(`${at("127.0.0.1")}/open/a`)).toMatchObject({ kind: "address-refused" });
    expect(server.heard.length).toBe(1);
  });
});

describe("the answers of a resolver", () => {
  test("of many addresses, those that may be asked are tried in their order, three at most", async () => {
    await using server = serve(undefined, { hostname: "127.0.0.1" });
    await using inner = serve(undefined, { hostname: "127.0.0.9", port: server.port });
    const at = `http://many.test:${server.port}`;
    const rule = { url: `${at}/*`, addresses: ["127.0.0.0/29"], methods: ["POST"] as const };
    const reply = async (...addresses: string[]) => {
      await using tool = web({ allow: [rule], resolve: () => addresses });
      return await tool.send("POST", `${at}/`, { body: "once" });
    };
    expect(await reply("10.0.0.1", "127.0.0.9", "127.0.0.1")).toMatchObject({ status: 200 });
    expect(await reply("127.0.0.3", "127.0.0.2", "127.0.0.1")).toMatchObject({ status: 200 });
    expect(server.heard.length).toBe(2);
    expect(await reply("127.0.0.3", "127.0.0.2", "127.0.0.4", "127.0.0.1")).toMatchObject({ kind: "unreachable" });
    expect(await reply(...Array<string>(1_000).fill("10.0.0.1"), "127.0.0.1")).toMatchObject({
      kind: "address-refused",
    });
    expect(server.heard.length).toBe(2);
    expect(inner.heard).toEqual([]);
  });

  test.each([
    ["none", () => []],
    ["no list", () => "127.0.0.1"],
    ["nothing", () => undefined],
    ["no texts", () => [null, 2130706433, {}]],
    ["names", () => ["localhost", "evil.test", ""]],
    ["odd spellings", () => ["127.1", "0x7f.0.0.1", "fe80::1%lo", "[::1]", "127.0.0.1/8", " 127.0.0.1"]],
    [
      "an error",
      () => {
        throw new Error("the secret of the resolver");
      },
    ],
    ["a rejection", () => Promise.reject(new Error("the secret of the resolver"))],
  ])("%s: the host is unresolved, and nothing of its inside is told", async (_, resolve) => {
    await using server = serve();
    const at = `http://odd.test:${server.port}`;
    await using tool = web({
      allow: [{ url: `${at}/*`, addresses: LOCAL }],
      resolve: resolve as unknown as ResolveHost,
    });
    const told = await tool.get(`${at}/`);
    expect(told).toMatchObject({ kind: "unresolved" });
    expect(JSON.stringify(told)).not.toContain("secret");
    expect(server.heard).toEqual([]);
  });

  test("a flood of names that are never found is bounded", async () => {
    let pending = 0;
    await using tool = web({
      allow: ["http://*:*/*"],
      concurrency: 1_000,
      timeout: 60_000,
      resolve: () => {
        pending++;
        return new Promise<never>(() => {});
      },
    });
    const gone = new AbortController();
    const asks = Array.from({ length: 500 }, (_, at) =>
      tool.ref.ask("get", { url: `http://name-${at}.test/` }, { timeout: 60_000, signal: gone.signal }),
    );
    const told = await asks.at(-1);
    expect(told?.isOk() && told.value).toMatchObject({ ok: false, error: { kind: "busy" } });
    expect(pending).toBe(64);
    gone.abort();
    await Promise.all(asks);
  });
});
