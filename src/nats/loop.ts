import type { Address, AnyRef, Protocol, Ref } from "../index";
import { createLink, type Link } from "../link/index";
import type { Connection } from "./connection";
import { detailOf } from "./own-actors";

/** The links of this node to itself, which may tell what a handler threw. */
export class Loop {
  readonly #here: Link;
  readonly #there: Link;

  constructor({ system, cluster, node }: Connection, exposed: (at: Address) => AnyRef | undefined) {
    const metadata = { "envoi.node": node };
    const link = (prefix: string, other: () => Link): Link =>
      createLink({
        system,
        prefix,
        send: (text) => other().take(text),
        exposed,
        metadata,
        tellsErrors: true,
        detailOf,
      });
    this.#there = link(`${cluster}/loop/`, () => this.#here);
    this.#here = link(`${cluster}/node/${node}/`, () => this.#there);
  }

  transient<Signatures>(to: Address, protocol: Protocol<string, Signatures>): Ref<Signatures> {
    return this.#here.transient(to, protocol);
  }

  /** All that waits fails as `timeout`, and its handlers are given up. It goes on for what is sent from now on. */
  lose(cause: Error): void {
    for (const link of [this.#here, this.#there]) link.lost(cause, "timeout");
    for (const link of [this.#here, this.#there]) link.resume();
  }

  end(cause: Error): void {
    for (const link of [this.#here, this.#there]) link.end(cause);
  }
}
