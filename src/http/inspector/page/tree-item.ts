import type { TreeRow } from "../shapes";
import { make, setAttribute, setText } from "./dom";
import type { History } from "./histories";
import { countText, rateText } from "./numbers";
import { Sparkline } from "./sparkline";

/** States that need no word: most actors are in one of them most of the time. */
const QUIET = new Set(["idle", "ready", "handling", "awaiting"]);

/** One line of the tree. */
export class TreeItem {
  readonly element: HTMLElement;
  readonly #toggle = make("span", { class: "toggle" });
  readonly #name = make("span", { class: "text" });
  readonly #badge = make("span", { class: "badge" });
  readonly #rate = make("span", { class: "number rate" });
  readonly #queued = make("span", { class: "number queued" });
  readonly #failed = make("span", { class: "number failed" });
  readonly #restarts = make("span", { class: "number restarts" });
  readonly #chart = new Sparkline();

  constructor(key: string) {
    this.element = make(
      "div",
      { class: "row", attributes: { role: "treeitem", "data-key": key, tabindex: "-1" } },
      make("span", { class: "label" }, this.#toggle, this.#name, this.#badge),
      this.#rate,
      this.#chart.element,
      this.#queued,
      this.#failed,
      this.#restarts,
    );
  }

  show(row: TreeRow, hasRates: boolean, history: History | null): void {
    const { element } = this;
    const { kind, level, place, siblings, isOpen, numbers, actor, count, troubled = 0 } = row;
    setAttribute(element, "data-kind", kind);
    setAttribute(element, "aria-level", String(level));
    setAttribute(element, "aria-posinset", place === 0 ? null : String(place));
    setAttribute(element, "aria-setsize", place === 0 ? null : String(siblings));
    setAttribute(element, "aria-expanded", isOpen === undefined ? null : String(isOpen));
    element.style.setProperty("--level", String(Math.min(level, 12)));
    setText(this.#name, row.name);
    this.#name.title = row.name;
    const state = actor !== undefined && !QUIET.has(actor.state) ? actor.state : "";
    const trouble = troubled > 0 ? `${countText(troubled)} restarting or held` : state;
    setText(this.#badge, count === undefined ? trouble : `${countText(count)}${trouble === "" ? "" : ` · ${trouble}`}`);
    setAttribute(this.#badge, "data-trouble", troubled > 0 || state === "held" || state === "restarting" ? "" : null);
    this.#badge.hidden = this.#badge.textContent === "";
    if (numbers === undefined) {
      setAttribute(element, "aria-label", row.name);
      return;
    }
    const { rate, queued, failed, restarts } = numbers;
    setText(this.#rate, hasRates ? rateText(rate) : "–");
    setText(this.#queued, countText(queued));
    setText(this.#failed, countText(failed));
    setText(this.#restarts, countText(restarts));
    setAttribute(this.#queued, "data-some", queued > 0 ? "" : null);
    setAttribute(this.#failed, "data-some", failed > 0 ? "" : null);
    setAttribute(this.#restarts, "data-some", restarts > 0 ? "" : null);
    if (history !== null) this.#chart.draw(history.rate);
    const parts = [
      row.name,
      ...(count === undefined ? [] : [`${count} actors`]),
      ...(trouble === "" ? [] : [trouble]),
      `${queued} waiting`,
      ...(hasRates ? [`${rate} ${rate === 1 ? "message" : "messages"} a second`] : []),
      `${failed} failed`,
      `${restarts} ${restarts === 1 ? "restart" : "restarts"}`,
    ];
    setAttribute(element, "aria-label", parts.join(", "));
  }
}
