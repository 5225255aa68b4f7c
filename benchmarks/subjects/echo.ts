import type { Address, AskResult, RefTo, Router, System } from "envoi";
import { createMessage, createSystem, defineProtocol, Type } from "envoi";
import { batches, counted } from "../harness/rows";
import type { Prepared } from "../harness/suite";

export const Echo = defineProtocol("echo", { say: { payload: Type.Number(), reply: Type.Number() } });

/** An actor that is told numbers, and answers nothing. */
export const Sink = defineProtocol("sink", { take: { payload: Type.Number() } });

export const spawnEcho = (system: System, name = "echo"): RefTo<typeof Echo> =>
  system.spawn(name, Echo, () => ({ say: (payload) => payload }));

/** `batches` in a system of their own. */
export function batchesIn(
  operations: number,
  width: number,
  open: (arrive: () => boolean, system: System) => (first: number) => void,
  system = createSystem(),
): Prepared {
  return batches(
    operations,
    width,
    (arrive) => open(arrive, system),
    () => system.shutdown(),
  );
}

/** Work as of `counted`, in a system of its own. */
export const countedIn = (open: (system: System) => () => Promise<number>, system = createSystem()): Prepared =>
  counted(open(system), { teardown: () => system.shutdown() });

/** Tells to one actor, `width` at once, until the last is handled; then the next `width`. */
export const tells = (operations: number, width = operations, system = createSystem()): Prepared =>
  batchesIn(
    operations,
    width,
    (arrive) => {
      const sink = system.spawn("sink", Sink, () => ({ take: () => void arrive() }));
      return () => {
        for (let i = 0; i < width; i++) sink.tell("take", i);
      };
    },
    system,
  );

// Loops of asks are those of their floors, with the reference or the router in the mailbox's place: a closure for each ask, as a loop
// for both would have, takes a tenth of an ask.

const isReply = (reply: AskResult | undefined, value: unknown): boolean =>
  reply?.isOk() === true && reply.value === value;

export function asks(operations: number, width = 1, system = createSystem(), echo = spawnEcho(system)): Prepared {
  const inSequence = async () => {
    let done = 0;
    for (let i = 0; i < operations; i++) if (isReply(await echo.ask("say", i), i)) done++;
    return done;
  };
  const inFlight = async () => {
    let done = 0;
    for (let sent = 0; sent < operations; sent += width) {
      const asked: Promise<AskResult<number>>[] = [];
      for (let i = 0; i < width; i++) asked.push(echo.ask("say", i));
      const replies = await Promise.all(asked);
      for (let i = 0; i < width; i++) if (isReply(replies[i], i)) done++;
    }
    return done;
  };
  return counted(width === 1 ? inSequence : inFlight, { teardown: () => system.shutdown() });
}

/** Asks through a router, each in a message of its own, `width` of them in flight. */
export function routerAsks(
  router: Router,
  to: Address,
  operations: number,
  width: number,
  teardown: () => unknown,
  reply?: (payload: number) => unknown,
): Prepared {
  const isDue = (answer: AskResult | undefined, i: number) => isReply(answer, reply === undefined ? i : reply(i));
  const inSequence = async () => {
    let done = 0;
    for (let i = 0; i < operations; i++) if (isDue(await router.ask(createMessage(to, "run", i)), i)) done++;
    return done;
  };
  const inFlight = async () => {
    let done = 0;
    for (let sent = 0; sent < operations; sent += width) {
      const asked: Promise<AskResult>[] = [];
      for (let i = 0; i < width; i++) asked.push(router.ask(createMessage(to, "run", i)));
      const replies = await Promise.all(asked);
      for (let i = 0; i < width; i++) if (isDue(replies[i], i)) done++;
    }
    return done;
  };
  return counted(width === 1 ? inSequence : inFlight, { teardown });
}
