import { afterEach, describe, expect, test } from "bun:test";
import type { Socket } from "bun";
import { type FaultyProxy, startProxy } from "./proxy";

/** A server that sends back what it gets, and notes it. */
function startEcho() {
  const got: string[] = [];
  const listener = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data(socket, bytes) {
        got.push(bytes.toString());
        socket.write(bytes);
      },
    },
  });
  return { got, port: listener.port, stop: () => listener.stop(true) };
}

/** A client whose received bytes can be waited for. */
async function connect(port: number) {
  const state = { text: "", isClosed: false };
  let changed = Promise.withResolvers<void>();
  const tell = () => {
    changed.resolve();
    changed = Promise.withResolvers<void>();
  };
  const until = async (holds: () => boolean) => {
    while (!holds()) await changed.promise;
  };
  const socket: Socket = await Bun.connect({
    hostname: "127.0.0.1",
    port,
    socket: {
      data(_, bytes) {
        state.text += bytes.toString();
        tell();
      },
      close() {
        state.isClosed = true;
        tell();
      },
    },
  });
  return {
    send: (text: string) => socket.write(text),
    received: (text: string) => until(() => state.text === text),
    closed: () => until(() => state.isClosed),
    end: () => socket.end(),
    state,
  };
}

let echo: ReturnType<typeof startEcho>;
let proxy: FaultyProxy;
function start(): void {
  echo = startEcho();
  proxy = startProxy(echo.port);
}
afterEach(() => {
  proxy.close();
  echo.stop();
});

describe("the faulty proxy", () => {
  test("passes bytes on, both ways", async () => {
    start();
    const client = await connect(proxy.port);
    client.send("one");
    await client.received("one");
    client.send("two");
    await client.received("onetwo");
    expect(proxy.connections).toBe(1);
  });

  test("passes on much more than a socket takes at once", async () => {
    start();
    const got = Promise.withResolvers<number>();
    const sink = Bun.listen<{ bytes: number }>({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        open(socket) {
          socket.data = { bytes: 0 };
        },
        data({ data }, bytes) {
          data.bytes += bytes.length;
        },
        close: ({ data }) => got.resolve(data.bytes),
      },
    });
    const before = startProxy(sink.port);
    const bytes = Buffer.alloc(8_000_000, 7);
    let sent = 0;
    const push = (socket: Socket) => {
      sent += Math.max(0, socket.write(bytes.subarray(sent)));
      if (sent === bytes.length) socket.end();
    };
    await Bun.connect({
      hostname: "127.0.0.1",
      port: before.port,
      socket: { open: push, drain: push, data: () => undefined },
    });
    expect(await got.promise).toBe(bytes.length);
    before.close();
    sink.stop(true);
  });

  test("cuts connections, and takes new ones", async () => {
    start();
    const client = await connect(proxy.port);
    client.send("one");
    await client.received("one");
    proxy.cut();
    await client.closed();
    const next = await connect(proxy.port);
    next.send("two");
    await next.received("two");
  });

  test("refuses connections for as long as it is told to", async () => {
    start();
    proxy.refuse(true);
    await (await connect(proxy.port)).closed();
    proxy.refuse(false);
    const client = await connect(proxy.port);
    client.send("one");
    await client.received("one");
    expect(echo.got).toEqual(["one"]);
  });

  test("a black hole upwards swallows what is sent, and the way back is open", async () => {
    start();
    const client = await connect(proxy.port);
    client.send("one");
    await client.received("one");
    proxy.blackHole("up", true);
    client.send("lost");
    await proxy.swallowed("up", 4);
    proxy.blackHole("up", false);
    client.send("two");
    await client.received("onetwo");
    expect(echo.got).toEqual(["one", "two"]);
  });

  test("a black hole downwards swallows the answer alone", async () => {
    start();
    const client = await connect(proxy.port);
    proxy.blackHole("down", true);
    client.send("lost");
    await proxy.swallowed("down", 4);
    expect(echo.got).toEqual(["lost"]);
    expect(client.state).toEqual({ text: "", isClosed: false });
  });

  test("delays bytes, and lets none overtake when the delay ends", async () => {
    start();
    const client = await connect(proxy.port);
    proxy.delay("up", 50);
    client.send("one");
    await Bun.sleep(5); // Both are to arrive at the proxy apart; whether they do changes nothing in what must hold.
    proxy.delay("up", 0);
    client.send("two");
    await client.received("onetwo");
  });

  test("an end of the client comes to the server", async () => {
    const ended = Promise.withResolvers<string>();
    let text = "";
    const sink = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        data(_, bytes) {
          text += bytes.toString();
        },
        close: () => ended.resolve(text),
      },
    });
    start();
    const before = startProxy(sink.port);
    const client = await connect(before.port);
    client.send("last");
    client.end();
    expect(await ended.promise).toBe("last");
    before.close();
    sink.stop(true);
  });
});
