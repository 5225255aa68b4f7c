import { RawMailbox } from "../../../harness/raw-mailbox";
import { type ActorPeer, type Handler, parentsBy } from "../../actors/peer";

const names = new Map<string, RawMailbox<unknown>>();

function spawn(name: string, handler: Handler): RawMailbox<unknown> {
  const mailbox = new RawMailbox(handler);
  names.set(name, mailbox);
  return mailbox;
}

/** Made, told to stop, the stop awaited, and taken out of the map. */
const spawnAndStop = () => {
  let made = 0;
  return async (count: number) => {
    let stopped = 0;
    for (let i = 0; i < count; i++) {
      const name = `actor-${made++}`;
      const mailbox = spawn(name, (message) => message === "stop");
      if ((await mailbox.ask("stop")) === true && names.delete(name)) stopped++;
    }
    return stopped;
  };
};

export async function open(): Promise<ActorPeer<RawMailbox<unknown>>> {
  return {
    spawn,
    // Those of a tree have the same names everywhere, and are reached by their parents alone.
    spawnParent: parentsBy(
      (_name, handler) => new RawMailbox(handler),
      () => {},
    ),
    tell: (to, message) => to.tell(message),
    ask: (to, message) => to.ask(message),
    valueOf: (answer) => answer,
    own: { "spawn and stop": spawnAndStop },
  };
}
