import type { Connection } from "./connection";
import { FORMAT, formatOf } from "./format";

/** The nodes of another format that have a lease. They would misread what this node says, and are no members for it. */
export class ForeignNodes {
  readonly #connection: Connection;
  /** Their incarnations, by their names. */
  readonly #incarnations = new Map<string, string>();

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Says in the log and by an event that there is one. Returns false where that is known. */
  hear(node: string, incarnation: string): boolean {
    if (this.#incarnations.get(node) === incarnation) return false;
    this.#incarnations.set(node, incarnation);
    const text = this.#sentence(node, incarnation);
    this.#connection.system.log.warn(text);
    this.#connection.tell("error", { text });
    return true;
  }

  ended(node: string): void {
    this.#incarnations.delete(node);
  }

  clear(): void {
    this.#incarnations.clear();
  }

  /** @throws Error where there are some. */
  refuse(): void {
    for (const [node, incarnation] of this.#incarnations) throw new Error(this.#sentence(node, incarnation));
  }

  #sentence(node: string, incarnation: string): string {
    const { cluster, node: own } = this.#connection;
    return `Node "${node}" of cluster "${cluster}" has format ${formatOf(incarnation)} of what nodes say to each other, and node "${own}" has format ${FORMAT}: run one version of envoi on all nodes, or begin a cluster of another name.`;
  }
}
