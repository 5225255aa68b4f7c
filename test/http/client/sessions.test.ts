import { afterAll, expect, test } from "bun:test";
import { createClient } from "../../../src/http/client/index";
import { serve, sessions } from "../../../src/http/index";
import { createSystem, defineProtocol, Type } from "../../../src/index";
import { isLong } from "../../property/runs";
import { cuttingProxy } from "./cutting-proxy";

const Chat = defineProtocol("chat", {
  say: { payload: Type.String(), stream: Type.String() },
  heard: { reply: Type.Number(), hints: { readOnly: true } },
});
const system = createSystem({ logger: { error() {}, warn() {} } });
let said = 0;
const service = serve(system, {
  port: 0,
  hostname: "127.0.0.1",
  signals: [],
  expose: {},
  parts: [
    sessions({
      protocol: Chat,
      operations: ["say", "heard"],
      path: ":memory:",
      factory: () => {
        let heard = 0;
        return {
          async *say(text) {
            said++;
            heard++;
            yield* text.split(" ");
          },
          heard: () => heard,
        };
      },
    }),
  ],
});
afterAll(() => service.stop({ streams: 0, timeout: 1 }));
const clientOf = (url: string | URL) =>
  createClient<typeof service>({ url, retry: { first: 1, longest: 2, attempts: 20 } }).sessions;
const client = clientOf(service.url);

test("a session is made, spoken to, read and deleted", async () => {
  const { id, metadata } = (await client.create({ title: "A trip" }))._unsafeUnwrap();
  expect(metadata).toEqual({ title: "A trip" });
  expect(await Array.fromAsync(client.send(id, "say", "good morning"))).toEqual(["good", "morning"]);
  expect((await client.ask(id, "heard"))._unsafeUnwrap()).toBe(1);
  const events = await Array.fromAsync(client.events(id, { message: 1 }));
  expect(events.filter(({ event }) => event === "message").map(({ data }) => data)).toEqual(["good", "morning"]);
  const live = client.events(id, { after: events.at(-1)?.id ?? "" });
  const next = live.next();
  await Array.fromAsync(client.send(id, "say", "hello"));
  expect((await next).value?.event).toBe("request");
  await live.return?.();
  expect((await client.delete(id)).isOk()).toBe(true);
  expect((await client.ask(id, "heard"))._unsafeUnwrapErr()).toMatchObject({ kind: "not-found", status: 404 });
});

test("a message whose connection is cut after N bytes, for each N: it is handled once, and each item is shown once", async () => {
  const { id } = (await client.create())._unsafeUnwrap();
  const whole = 900;
  for (let bytes = 0; bytes <= whole; bytes += isLong ? 1 : 37) {
    const proxy = await cuttingProxy(service.url, (connection) =>
      connection === 0 ? bytes : Number.POSITIVE_INFINITY,
    );
    const before = said;
    const items = await Array.fromAsync(clientOf(proxy.url).send(id, "say", "one two three four"));
    expect({ bytes, items, said: said - before }).toEqual({ bytes, items: ["one", "two", "three", "four"], said: 1 });
    proxy.close();
  }
}, 60_000);
