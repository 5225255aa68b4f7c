import { describe, expect, test } from "bun:test";
import { createSystem, defineProtocol, type PublishedEvent, Type } from "../../src";
import { connectCluster } from "../../src/nats";
import { loadSdk } from "../../src/nats/sdk";
import { hasNats, server } from "./rooms";

const Echo = defineProtocol("echo", { say: { payload: Type.String(), reply: Type.String() } });
const Log = defineProtocol("log", { add: { payload: Type.Number() } });

describe.skipIf(!hasNats)("what comes between two nodes", async () => {
  const { url } = hasNats ? await server({ jetstream: false }) : { url: "" };

  test("P2: a text that is lost is told as a gap, and what follows is taken in order again", async () => {
    const quiet = { logger: { warn() {}, error() {} } };
    const [first, second] = [createSystem(quiet), createSystem(quiet)];
    const a = await connectCluster(first, { servers: url, name: "gaps", node: "a" });
    const b = await connectCluster(second, { servers: url, name: "gaps", node: "b" });
    b.expose(
      "echo",
      second.spawn("echo", Echo, () => ({ say: (text) => text })),
    );
    const taken: number[] = [];
    b.expose(
      "log",
      second.spawn("log", Log, () => ({ add: (number) => void taken.push(number) })),
    );
    const [echo, log] = [a.remote("b", "echo", Echo), a.remote("b", "log", Log)];
    expect((await echo.ask("say", "one"))._unsafeUnwrap()).toBe("one");

    const { transport } = await loadSdk();
    const stranger = await transport.connect({ servers: url });
    const heads: string[] = [];
    const listening = stranger.subscribe("envoi.gaps.to.b.a", {
      callback: (_, message) => void heads.push(message.string().split("\n")[0] ?? ""),
    });
    await stranger.flush();
    log.tell("add", 1);
    expect((await echo.ask("say", "two"))._unsafeUnwrap()).toBe("two");
    listening.unsubscribe();
    const [kind, from, to, round, number, left] = (heads.at(-1) ?? "").split(" ");
    expect(kind).toBe("text");
    const gap = new Promise<PublishedEvent>((resolve) => {
      second.events.subscribe((event) => {
        if (event.kind === "nats:gap") resolve(event as PublishedEvent); // Its kind has a colon.
      });
    });
    // As if the three after the last one were lost.
    stranger.publish("envoi.gaps.to.b.a", `text ${from} ${to} ${round} ${Number(number) + 4} ${left}\n[]`);
    expect((await gap).detail).toMatchObject({ node: "a", expected: Number(number) + 1 });
    await stranger.close();
    for (let next = 2; next <= 50; next++) log.tell("add", next);
    // The answer of the round before may be lost with it: it is asked until one comes.
    let said = await echo.ask("say", "three");
    while (said.isErr()) said = await echo.ask("say", "three");
    expect(said._unsafeUnwrap()).toBe("three");
    expect(taken).toEqual([...taken].sort((x, y) => x - y));
    await first.shutdown();
    await second.shutdown();
  });
});
