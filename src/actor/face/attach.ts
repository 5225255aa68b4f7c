import { type Address, isAddress, quote } from "../../message/address";
import { option } from "../../message/option";
import type { Protocol } from "../../protocol/protocol";
import { each } from "../../runtime/few";
import { type ActorEnvironment, Cell } from "../cell/cell";
import { guard } from "../cell/transitions";
import { type End, ends } from "../envelopes/ends";
import { stop } from "../life/lifecycle";
import { type Expose, exposureBy } from "../refs/exposure";
import { type Ref, refTo } from "../refs/ref";
import type { Transport } from "../transport";
import { Link } from "./outgoing";
import { begin, claim } from "./spawn";

/** A reference whose actor is elsewhere, and the end of it. */
export interface Attachment<Signatures> {
  /** A reference like any other. */
  readonly ref: Ref<Signatures>;
  /**
   * Ends the attachment: its address is free, `close()` is called, and watchers are told the reason. Messages that still wait come
   * back with that error, and so do all later ones. A second call does nothing. `unreachable` states that a message was not handled
   * there (P17): before it ends so, a transport fails those as `timeout` that may have been.
   *
   * @param detail why it is unreachable: the `cause` of the errors, and the `error` that watchers get.
   * @throws TypeError when the reason is another one.
   */
  end(reason: "stopped" | "unreachable", detail?: unknown): void;
  /**
   * The actor that was there is gone with its side, and another one may take its place. Watchers are told `unreachable`, once, and watch no
   * more; those who begin to watch are told at once, until `restore`. The reference lives on, and so do its messages: a transport fails those that waited.
   *
   * @param detail why: the `error` that watchers get.
   */
  interrupt(detail?: unknown): void;
  /** Its side is there again. */
  restore(): void;
}

/** The options of an attached reference: what it lets in. */
export interface AttachOptions {
  /**
   * Says which addresses in replies and in items of streams become references, where their schema has `refSchema`: a
   * reference, or `true` for the actor at that address in this system. Anything else fails the reply. Default: none.
   */
  readonly expose?: Expose;
}

const TRANSPORT = option.methods<keyof Transport>("send", "cancel", "credit", "close");

const STOPPED: End = { reason: "stopped", error: undefined };

/** Makes a reference whose actor is elsewhere. */
export function attach<Signatures>(
  environment: ActorEnvironment,
  at: Address,
  protocol: Protocol<string, Signatures>,
  transport: Transport,
  options: AttachOptions = {},
): Attachment<Signatures> {
  if (!isAddress(at)) throw new TypeError(`${quote(at)} is not an address; make one with address("node-7/files").`);
  if (typeof protocol?.operations !== "object") {
    throw new TypeError(`The protocol of ${at} is what defineProtocol() returned; got ${quote(protocol)}.`);
  }
  TRANSPORT(transport, "transport", at);
  const exposure = exposureBy(environment, options.expose, at);
  claim(environment, null, at, false);
  const cell = new Cell(environment, at, null, protocol.operations, null);
  const link = new Link(cell, transport, exposure);
  const { extra } = cell;
  extra.relay = link;
  extra.phase = Number.POSITIVE_INFINITY; // Actors that stop may still wait for it.
  extra.whenStopped = new Set([() => link.end()]);
  ends.set(cell, STOPPED); // Unless its owner says otherwise.
  guard(cell);
  environment.directory.add(cell, false);
  begin(cell, {});
  return {
    ref: refTo<Signatures>(cell),
    end(reason, detail) {
      if (reason !== "stopped" && reason !== "unreachable") {
        throw new TypeError(`The attachment of ${at} ends as "stopped" or "unreachable"; got ${quote(reason)}.`);
      }
      if (cell.isEnding) return;
      ends.set(cell, { reason, error: detail });
      if (detail !== undefined) extra.stopError = { error: detail };
      stop(cell, false);
    },
    interrupt(detail) {
      if (cell.isEnding) return;
      ends.set(cell, { reason: "unreachable", error: detail, isGone: true });
      const { watchers } = extra;
      extra.watchers = null;
      each(watchers, (watch) => watch.tell(detail));
    },
    restore() {
      if (ends.get(cell)?.isGone) ends.set(cell, STOPPED);
    },
  };
}
