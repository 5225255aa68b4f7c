import { address, createMessage, createSystem } from "envoi";
import { sustain } from "../harness/latency";
import { RawMailbox } from "../harness/raw-mailbox";
import type { Readings } from "../harness/suite";
import { Sink } from "./echo";

// What the rows about sustained messages run, each in a process of its own.

/** How many messages are sent before the last of them is awaited. */
const BATCH = 1_000;

/** Counts messages where they are handled, and resolves with their number once a batch of them is. */
function counted(send: (index: number) => void) {
  let handled = 0;
  let finish = (_handled: number) => {};
  const arrive = () => {
    if (++handled === BATCH) finish(handled);
  };
  const work = (): Promise<number> => {
    handled = 0;
    const { promise, resolve } = Promise.withResolvers<number>();
    finish = resolve;
    for (let index = 0; index < BATCH; index++) send(index);
    return promise;
  };
  return { arrive, work };
}

async function withSink(
  milliseconds: number,
  sending: (opened: ReturnType<typeof openSink>) => (index: number) => void,
): Promise<Readings> {
  const opened = openSink();
  const { work, arrive } = counted(sending(opened));
  opened.heard.take = arrive;
  const readings = await sustain(milliseconds, work);
  await opened.system.shutdown();
  const { accepted, handled } = opened.system.router.audit();
  if (accepted !== handled) throw new Error(`${accepted} messages were accepted and ${handled} handled`);
  return readings;
}

function openSink() {
  const system = createSystem();
  const heard = { take: () => {} };
  const sink = system.spawn("sink", Sink, () => ({
    take() {
      heard.take();
    },
  }));
  return { system, sink, heard };
}

const to = address("sink");

export const byRef = (milliseconds: number): Promise<Readings> =>
  withSink(
    milliseconds,
    ({ sink }) =>
      (index) =>
        sink.tell("take", index),
  );

export const byRouter = (milliseconds: number): Promise<Readings> =>
  withSink(
    milliseconds,
    ({ system: { router } }) =>
      (index) =>
        router.tell(createMessage(to, "take", index)),
  );

/** The least of both: the bare mailbox. */
export function raw(milliseconds: number): Promise<Readings> {
  const { work, arrive } = counted((index) => mailbox.tell(index));
  const mailbox = new RawMailbox<number>(arrive);
  return sustain(milliseconds, work);
}
