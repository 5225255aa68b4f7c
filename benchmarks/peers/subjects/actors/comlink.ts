import { type Remote, releaseProxy, transfer, wrap } from "comlink";
import type { ActorPeer, Kind } from "../../actors/peer";
import type { Served } from "./comlink-worker";

interface Node {
  readonly worker: Worker;
  readonly remote: Remote<Served>;
}

async function start(kind: Kind = "echo"): Promise<Node> {
  const worker = new Worker(new URL("comlink-worker.ts", import.meta.url));
  const remote = wrap<Served>(worker);
  await remote.become(kind);
  return { worker, remote };
}

async function stop({ worker, remote }: Node): Promise<void> {
  const closed = new Promise<void>((resolve) => worker.addEventListener("close", () => resolve(), { once: true }));
  remote[releaseProxy]();
  worker.terminate();
  await closed;
}

const tells = async () => {
  const { remote } = await start();
  return async (count: number) => {
    const before = await remote.handled();
    for (let i = 0; i < count; i++) void remote.take(i);
    return (await remote.handled()) - before;
  };
};

const asks = (width: number) => async () => {
  const { remote } = await start();
  return async (count: number) => {
    let right = 0;
    for (let sent = 0; sent < count; sent += width) {
      const replies: Promise<unknown>[] = [];
      for (let i = 0; i < width; i++) replies.push(remote.take(i));
      (await Promise.all(replies)).forEach((reply, i) => {
        if (reply === i) right++;
      });
    }
    return right;
  };
};

const pingPong = async () => {
  const [ping, pong] = await Promise.all([start(), start()]);
  const { port1, port2 } = new MessageChannel();
  await pong.remote.serve(transfer(port2, [port2]));
  await ping.remote.join(transfer(port1, [port1]));
  return (count: number) => ping.remote.play(count);
};

const spawnAndStop = () => async (count: number) => {
  let stopped = 0;
  for (; stopped < count; stopped++) await stop(await start());
  return stopped;
};

export async function open(): Promise<ActorPeer<Node>> {
  return {
    spawnKind: (kind) => start(kind),
    tell({ remote }, message) {
      void remote.take(message);
    },
    ask: ({ remote }, message) => remote.take(message),
    valueOf: (answer) => answer,
    stop,
    own: {
      "tell, 1,000 at once": tells,
      "ask, one after the other": asks(1),
      "ask, 100 in flight": asks(100),
      "ping-pong, a round trip": pingPong,
      "spawn and stop": spawnAndStop,
    },
  };
}
