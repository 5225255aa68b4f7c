import { expect, test } from "bun:test";
import { Hono } from "hono";
import { createGateway } from "../../src/http/index";
import { createSystem } from "../../src/index";
import { Counter, createCounter } from "./counter";

function createService(basePath?: string) {
  const system = createSystem();
  const ref = system.spawn("counter", Counter, createCounter);
  const seen: string[] = [];
  const who = (visit: { readonly owner: string }): Response => {
    seen.push(visit.owner);
    return new Response("here");
  };
  const parts = [() => ({ routes: [{ method: "GET" as const, path: "/who", handle: who }] })];
  const expose = { counter: { ref, operations: ["add", "total"] } } as const;
  const gateway = createGateway(system, { expose, parts, ...(basePath !== undefined && { basePath }) });
  return { system, gateway, seen };
}

const add = (url: string | URL, path: string): Promise<Response> =>
  fetch(new URL(path, url), { method: "POST", body: "2", headers: { "content-type": "application/json" } });

test("a gateway is mounted in Bun.serve as its routes, beside others", async () => {
  const { system, gateway, seen } = createService("/api");
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    routes: { ...gateway.routes, "/hello": () => new Response("hello") },
  });
  expect(await (await add(server.url, "/api/actors/counter/add")).json()).toBe(2);
  expect(await (await fetch(new URL("/hello", server.url))).text()).toBe("hello");
  expect((await add(server.url, "/api/nothing")).status).toBe(404);
  await fetch(new URL("/api/who", server.url));
  expect(seen).toEqual(["127.0.0.1"]);
  await server.stop(true);
  await system.shutdown();
});

test("a gateway is mounted in hono, below a path that hono takes off, or below its own", async () => {
  const { system, gateway, seen } = createService();
  const own = createService("/own");
  const app = new Hono();
  app.get("/hello", (context) => context.text("hello"));
  app.mount("/api", gateway.fetch);
  app.all("/own/*", (context) => own.gateway.fetch(context.req.raw, context.env));
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request, server) => app.fetch(request, { server }),
  });
  expect(await (await add(server.url, "/api/actors/counter/add")).json()).toBe(2);
  expect(await (await add(server.url, "/own/actors/counter/add")).json()).toBe(2);
  expect(await (await fetch(new URL("/hello", server.url))).text()).toBe("hello");
  expect((await fetch(new URL("/api/who", server.url))).status).toBe(200);
  await fetch(new URL("/own/who", server.url));
  expect(own.seen).toEqual(["127.0.0.1"]);
  expect(seen).toHaveLength(1);
  await server.stop(true);
  await system.shutdown();
  await own.system.shutdown();
});

test("paths outside of its base path are not its own", async () => {
  const { system, gateway } = createService("/api");
  for (const path of ["/actors/counter/total", "/apiactors/counter/total", "/ap", "/api", "/api/"]) {
    expect((await gateway.fetch(new Request(`http://service${path}`))).status).toBe(404);
  }
  expect(await (await gateway.fetch(new Request("http://service/api/actors/counter/total"))).json()).toBe(0);
  await system.shutdown();
});

test("P18: a path that only begins with the letters of the base path is not below it", async () => {
  const { system, gateway } = createService("/api");
  for (const path of [
    "/apix/actors/counter/total",
    "/api-2/actors/counter/total",
    "/api;/openapi.json",
    "/api../health",
  ]) {
    expect((await gateway.fetch(new Request(`http://service${path}`))).status).toBe(404);
  }
  await system.shutdown();
});
