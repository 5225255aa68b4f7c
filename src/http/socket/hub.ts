import type { Address, Door } from "../../index";
import type { Caller, Site } from "../contract";
import type { SocketLimits } from "./frames";
import type { Relay } from "./relay";

/** The parts that the sockets of a gateway share. */
export interface Hub {
  readonly site: Site;
  readonly limits: SocketLimits;
  /** Most bytes that wait for a client that does not read, and most of one answer. */
  readonly unsent: number;
  /** Milliseconds in which a socket must name its caller. */
  readonly authenticateWithin: number;
  /** The doors of the exposed actors, by an address that has their name outside. */
  readonly doors: ReadonlyMap<Address, Door>;
  /** Those addresses, by the name. */
  readonly addresses: ReadonlyMap<string, Address>;
  /** The exposed topics, by the name that they have outside. */
  readonly relays: ReadonlyMap<string, Relay>;
  /** Counts a frame that came. */
  onFrame(): void;
}

/** The caller that opened a socket. */
export interface Visitor {
  /** The request of the handshake. */
  readonly request: Request;
  /** Undefined until it is known, and where the gateway does not authenticate. */
  readonly caller: Caller | undefined;
  /** Owns streams and sockets: the caller's id, or the address of the network peer. */
  readonly owner: string;
}
