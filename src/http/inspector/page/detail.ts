import type { TreeRow } from "../shapes";
import { byId, make } from "./dom";
import type { Histories } from "./histories";
import { countText, rateText, timeText } from "./numbers";
import { Sparkline } from "./sparkline";

/** The selected line of the tree, with all that is known of it. */
export class Detail {
  readonly #body = byId("detail-body", HTMLElement);
  readonly #histories: Histories;
  readonly #rate = new Sparkline();
  readonly #queued = new Sparkline();
  #shown = "";

  constructor(histories: Histories) {
    this.#histories = histories;
  }

  show(row: TreeRow | undefined, hasRates: boolean): void {
    if (row?.numbers !== undefined) {
      const { rate, queued } = this.#histories.of(row.key);
      this.#rate.draw(rate);
      this.#queued.draw(queued);
    }
    const shown = JSON.stringify([row ?? null, hasRates]);
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.#body.replaceChildren(...(row?.numbers === undefined ? [hint()] : this.#partsOf(row, hasRates)));
  }

  #partsOf(row: TreeRow, hasRates: boolean): Node[] {
    const { numbers, actor, count, troubled = 0 } = row;
    if (numbers === undefined) return [];
    const facts: (readonly [string, string])[] = [];
    if (actor !== undefined) {
      facts.push(["State", actor.state]);
      if (actor.protocol !== "") facts.push(["Protocol", actor.protocol]);
      for (const { operation, age } of actor.current) facts.push(["Runs", `${operation}, for ${timeText(age)}`]);
    }
    if (count !== undefined) facts.push(["Actors", countText(count)], ["Restarting or held", countText(troubled)]);
    facts.push(
      ["Handled", countText(numbers.handled)],
      ["Failed", countText(numbers.failed)],
      ["Restarts", countText(numbers.restarts)],
    );
    return [
      make("p", { class: "address", text: actor?.address ?? row.name }),
      chartOf("Rate", hasRates ? rateText(numbers.rate) : "–", this.#rate),
      chartOf("Waiting", countText(numbers.queued), this.#queued),
      make(
        "dl",
        {},
        ...facts.map(([name, value]) =>
          make("div", {}, make("dt", { text: name }), make("dd", { text: value, title: value })),
        ),
      ),
    ];
  }
}

const hint = (): Node => make("p", { class: "hint", text: "Choose an actor or a group in the tree." });

const chartOf = (name: string, value: string, chart: Sparkline): Node =>
  make(
    "div",
    { class: "chart" },
    make("span", { class: "name", text: name }),
    make("span", { class: "value", text: value }),
    chart.element,
  );
