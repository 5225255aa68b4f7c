import { lookup } from "node:dns/promises";
import type { Errand } from "./errand";
import { refuse, shown } from "./fetch-error";
import { bytesOf } from "./ip-address";
import type { ResolveHost } from "./options";
import { isOpen, type Rule } from "./rules";
import type { Target } from "./target";

/** Most addresses of a name that are considered. */
const MOST_ADDRESSES = 16;
/** Most names that are looked up at once. A lookup of the machine cannot be cancelled: it may outlive its request. */
const MOST_LOOKUPS = 64;

/** Gives the addresses that a request may be connected to. */
export class Addresses {
  readonly #resolve: ResolveHost;
  /** Lookups under way, by host. Requests for one host at the same time share the answer. */
  readonly #lookups = new Map<string, Promise<readonly unknown[]>>();

  constructor(resolve: ResolveHost = byMachine) {
    this.#resolve = resolve;
  }

  /**
   * The addresses of a target, checked. The connection is made to one of them and the name is not looked up again, so a name that
   * changes its address after the check gains nothing.
   */
  async of(target: Target, rule: Rule, errand: Errand): Promise<readonly string[]> {
    const { host } = target;
    const found = target.address === null ? await errand.wait(this.#lookUp(host)) : [host];
    const known = found.slice(0, MOST_ADDRESSES).flatMap((text) => {
      const bytes = typeof text === "string" ? bytesOf(text) : null;
      return bytes === null ? [] : [{ text: String(text), bytes }]; // Any other text is not tried.
    });
    if (known.length === 0) return refuse("unresolved", `The host ${shown(host)} has no address; check its name.`);
    const open = known.filter(({ bytes }) => isOpen(rule, bytes));
    if (open.length > 0) return open.map(({ text }) => text);
    return refuse("address-refused", `The host ${shown(host)} is not on the public internet, and may not be asked.`);
  }

  #lookUp(host: string): Promise<readonly unknown[]> {
    const known = this.#lookups.get(host);
    if (known !== undefined) return known;
    if (this.#lookups.size >= MOST_LOOKUPS) {
      return refuse("busy", "Too many hosts are being looked up; ask again later.");
    }
    const pending = this.#answerOf(host).finally(() => this.#lookups.delete(host));
    this.#lookups.set(host, pending);
    return pending;
  }

  /** Looks a host up. Never rejects: an error of the resolver counts as no address. */
  async #answerOf(host: string): Promise<readonly unknown[]> {
    try {
      const found: unknown = await this.#resolve(host);
      return Array.isArray(found) ? found : [];
    } catch {
      return [];
    }
  }
}

async function byMachine(host: string): Promise<readonly string[]> {
  const found = await lookup(host, { all: true, verbatim: true });
  return found.map(({ address }) => address);
}
