import { expect, test } from "bun:test";
import { createSystem, type System } from "../../../src/index";
import { recorder, replay } from "../../../src/record/index";
import { Chat, eventsOf, gatewayOf } from "../../http/sessions/chat";
import { folders, linesIn, story } from "../recorded";

const folder = folders();
const quiet = { warn() {}, error() {} };

/** Records two sessions behind a gateway that is called over HTTP. */
async function recorded(): Promise<string> {
  const to = `${folder()}/run.ndjson`;
  const system = createSystem({ logger: quiet });
  const recording = recorder(system, { to });
  const gateway = gatewayOf(system);
  const server = Bun.serve({ port: 0, fetch: (request) => gateway.fetch(request) });
  const post = (path: string, body: unknown) =>
    fetch(new URL(path, server.url), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  for (const title of ["first", "second"]) {
    const session = (await post("/sessions", { metadata: { title } })).headers.get("location");
    const send = (operation: string, payload?: unknown) => post(`${session}/messages`, { operation, payload });
    const words = await Array.fromAsync(eventsOf(await send("say", `good ${title}`)));
    expect(words.map(({ data }) => data)).toEqual(['"good"', `"${title}"`, "{}"]);
    expect(await (await send("heard")).json()).toEqual([`good ${title}`]);
    expect((await send("fail")).status).toBe(500);
  }
  await server.stop();
  await gateway.drain(1_000);
  await recording.close();
  await system.shutdown();
  await gateway.close();
  return to;
}

/** Opens the sessions' addresses without a gateway. @param change is made to each word that a session says. */
const openSessions = (system: System, change: (word: string) => string) =>
  system.resolve("sessions/", (_, id) =>
    system.spawn(id, Chat, () => {
      const heard: string[] = [];
      return {
        *say(text) {
          heard.push(text);
          for (const word of text.split(" ")) yield change(word);
        },
        heard: () => heard,
        peek: () => heard.length,
        count: () => [],
        hang: () => [],
        fail: () => {
          throw new Error("a secret");
        },
        hush() {},
      };
    }),
  );

const again = (path: string, change = (word: string): string => word) =>
  replay(path, {
    setup({ clock, random }) {
      const system = createSystem({ clock, random, logger: quiet });
      openSessions(system, change);
      return system;
    },
  });

test("sessions that were called over HTTP came in by a door, and are called again: a stream's items, a reply, an error", async () => {
  const path = await recorded();
  const told = story(linesIn(path)).map((each) => each.replaceAll(/@\(sessions\/[^)]*\)/g, "@(session)"));
  expect(told).toEqual([
    '1 stream @(session) say "good first" door: item "good", item "first", handled',
    '2 ask @(session) heard door: handled ["good first"]',
    "3 ask @(session) fail door: failed a secret",
    '4 stream @(session) say "good second" door: item "good", item "second", handled',
    '5 ask @(session) heard door: handled ["good second"]',
    "6 ask @(session) fail door: failed a secret",
  ]);
  const report = await again(path);
  expect(String(report)).toContain("the same; 6 messages sent, 6 compared");
});

test("a session that says another word, is told with it", async () => {
  const report = await again(await recorded(), (word) => (word === "second" ? "other" : word));
  expect(report).toMatchObject({
    sent: 6,
    compared: 6,
    deviations: [{ kind: "value", part: "item", index: 1, differences: [{ recorded: "second", replayed: "other" }] }],
  });
});
