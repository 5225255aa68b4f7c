import { RawMailbox } from "../../../harness/raw-mailbox";
import type { ActorPeer } from "../../actors/peer";

class Mailbox extends RawMailbox<unknown> {
  name = "";
}

export function open(): ActorPeer<Mailbox> {
  const names = new Map<string, Mailbox>();
  return {
    spawn(name, handler) {
      const mailbox = new Mailbox(handler);
      mailbox.name = name;
      names.set(name, mailbox);
      return mailbox;
    },
    tell: (to, message) => to.tell(message),
    ask: (to, message) => to.ask(message),
    /** Told to stop, the stop awaited, and taken out of the map. */
    async stop(mailbox) {
      await mailbox.ask("stop");
      names.delete(mailbox.name);
    },
  };
}
