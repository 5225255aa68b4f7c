import { defineProtocol, type RefTo, type System, Type } from "../../src/index";
import { answered } from "./answered";

const Ping = defineProtocol("ping", { start: {}, pong: {} });
const Pong = defineProtocol("pong", { ping: {}, received: { reply: Type.Number() } });

export interface PingPongAnswer {
  readonly pings: number;
  readonly pongs: number;
}

/**
 * Two actors hit one ball back and forth. Each waits for the other, so both count as many hits as were asked for.
 */
export async function pingPong(
  system: System,
  { pings = 40_000 }: { readonly pings?: number } = {},
): Promise<PingPongAnswer> {
  const done = Promise.withResolvers<number>();

  const ping: RefTo<typeof Ping> = system.spawn("ping", Ping, (ctx) => {
    let pongs = 0;
    return {
      start: () => ctx.tell(pong, "ping"),
      pong() {
        pongs++;
        if (pongs < pings) ctx.tell(pong, "ping");
        else done.resolve(pongs);
      },
    };
  });

  const pong: RefTo<typeof Pong> = system.spawn("pong", Pong, (ctx) => {
    let received = 0;
    return {
      ping() {
        received++;
        ctx.tell(ping, "pong");
      },
      received: () => received,
    };
  });

  ping.tell("start");
  const pongs = await done.promise;
  return { pings: answered(await pong.ask("received")), pongs };
}
