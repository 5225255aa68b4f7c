import { afterEach, expect, test } from "bun:test";
import { boundedFetch } from "../../src/mcp/client/bounded-fetch";

const servers: Bun.Server<undefined>[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop(true)));
});

/** A server that answers by a path, and keeps what it was sent. */
function serve(answer: (path: string) => Response) {
  const heard: string[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { pathname } = new URL(request.url);
      heard.push(`${request.method} ${pathname} ${request.headers.get("authorization")} ${await request.text()}`);
      return answer(pathname);
    },
  });
  servers.push(server);
  return { url: server.url, heard };
}

const to = (location: string, status = 308): Response => new Response(null, { status, headers: { location } });
const fetch = boundedFetch(10_000);
const SENT = { method: "POST", body: "the call", headers: { authorization: "Bearer s3cr3t" } };

test("a redirect to the same origin is followed, with all that is sent", async () => {
  const server = serve((path) => (path === "/mcp" ? to("/mcp/") : new Response("here")));
  expect(await (await fetch(new URL("/mcp", server.url), SENT)).text()).toBe("here");
  expect(server.heard).toEqual(["POST /mcp Bearer s3cr3t the call", "POST /mcp/ Bearer s3cr3t the call"]);
});

test("P18: a redirect elsewhere is not followed: another place hears nothing, neither the call nor the credentials", async () => {
  const other = serve(() => new Response("mine now"));
  for (const place of [other.url.href, `//127.0.0.1:${other.url.port}/`, "http://[", "file:///etc/passwd"]) {
    const server = serve(() => to(place));
    expect(fetch(server.url, SENT)).rejects.toThrow(/redirects elsewhere/);
  }
  for (const status of [301, 302, 303]) {
    const server = serve(() => to(other.url.href, status));
    expect((await fetch(server.url, SENT)).status).toBe(status); // The SDK takes it for a failure.
  }
  expect(other.heard).toEqual([]);
});

test("P18: redirects in a circle end", async () => {
  const server = serve(() => to("/again", 307));
  expect(fetch(server.url, SENT)).rejects.toThrow("redirects more than 5 times");
  expect(server.heard).toHaveLength(6);
});
