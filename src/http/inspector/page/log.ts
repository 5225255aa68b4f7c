import type { Frame, LogEntry, TreeRow } from "../shapes";
import { byId, make, setText } from "./dom";
import { clockText } from "./numbers";

/** Entries that are kept, and those that are shown. */
const MOST = 1_000;
const MOST_SHOWN = 200;

const LIVES = new Set(["started", "stopped"]);
const BAD = new Set(["failed", "held", "dead-letter", "overflow"]);

const FILTERS: Readonly<Record<string, (entry: LogEntry) => boolean>> = {
  all: () => true,
  unusual: ({ kind }) => !LIVES.has(kind),
  failures: ({ kind }) => kind === "failed" || kind === "restarted" || kind === "held",
  letters: ({ kind }) => kind === "dead-letter",
  lives: ({ kind }) => LIVES.has(kind),
};

/** The log of events, the newest first. */
export class Log {
  readonly #list = byId("log", HTMLOListElement);
  readonly #note = byId("log-note", HTMLElement);
  readonly #kinds = byId("kinds", HTMLSelectElement);
  readonly #onlySelected = byId("only-selected", HTMLInputElement);
  #entries: LogEntry[] = [];
  #selected: TreeRow | undefined;
  #isCut = false;
  #since = 0;

  constructor() {
    this.#kinds.addEventListener("change", () => this.#showAll());
    this.#onlySelected.addEventListener("change", () => this.#showAll());
  }

  add({ log, isLogCut, since }: Frame): void {
    const last = this.#entries.at(-1)?.id ?? 0;
    const isAnew = since !== this.#since; // The service is another one.
    this.#since = since;
    if (isAnew) {
      this.#entries = [];
      this.#isCut = false;
    }
    const fresh = isAnew ? log : log.filter(({ id }) => id > last);
    this.#isCut ||= isLogCut;
    this.#entries = [...this.#entries, ...fresh].slice(-MOST);
    const shown = fresh.filter((entry) => this.#isShown(entry)).slice(-MOST_SHOWN);
    if (isAnew) this.#showAll();
    else if (shown.length > 0) this.#list.prepend(...shown.toReversed().map(lineOf));
    while (this.#list.children.length > MOST_SHOWN) this.#list.lastElementChild?.remove();
    this.#tell();
  }

  select(row: TreeRow | undefined): void {
    if (row?.key === this.#selected?.key) return;
    this.#selected = row;
    if (this.#onlySelected.checked) this.#showAll();
  }

  #isShown(entry: LogEntry): boolean {
    const isOfKind = FILTERS[this.#kinds.value]?.(entry) ?? true;
    if (!isOfKind || !this.#onlySelected.checked) return isOfKind;
    const address = this.#selected?.actor?.address;
    return address !== undefined && (entry.address === address || entry.address.startsWith(`${address.slice(0, -1)}/`));
  }

  #showAll(): void {
    const shown = this.#entries.filter((entry) => this.#isShown(entry)).slice(-MOST_SHOWN);
    this.#list.replaceChildren(...shown.toReversed().map(lineOf));
    this.#tell();
  }

  #tell(): void {
    const cut = "So much happened that some events are not here.";
    setText(
      this.#note,
      this.#list.children.length === 0 ? "Nothing of this kind has happened yet." : this.#isCut ? cut : "",
    );
  }
}

const lineOf = ({ at, kind, address, text }: LogEntry): Node =>
  make(
    "li",
    {},
    make("time", { text: clockText(at) }),
    make("span", { class: "kind", text: kind, attributes: BAD.has(kind) ? { "data-trouble": "" } : {} }),
    make("span", { class: "address", text: address }),
    make("span", { class: "what", text }),
  );
