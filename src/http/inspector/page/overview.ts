import type { Frame, Totals } from "../shapes";
import { byId, make, setAttribute, setText } from "./dom";
import { countText, rateText } from "./numbers";
import { Series, Sparkline } from "./sparkline";

interface Tile {
  readonly name: string;
  readonly of: keyof Totals;
  /** True for a count of what went wrong: the chart shows how many are new. */
  readonly isTrouble?: boolean;
}

const TILES: readonly Tile[] = [
  { name: "Actors", of: "actors" },
  { name: "Messages", of: "rate" },
  { name: "Waiting", of: "queued" },
  { name: "Failed", of: "failed", isTrouble: true },
  { name: "Dead letters", of: "dead", isTrouble: true },
  { name: "Restarts", of: "restarts", isTrouble: true },
];

/** The numbers of the whole system. */
export class Overview {
  readonly #tiles = TILES.map((tile) => {
    const value = make("span", { class: "value", text: "–" });
    const chart = new Sparkline();
    const element = make("div", { class: "tile" }, make("span", { class: "name", text: tile.name }), value);
    element.append(chart.element);
    return { tile, value, chart, element, series: new Series(), last: 0 };
  });

  constructor() {
    byId("overview", HTMLElement).append(...this.#tiles.map(({ element }) => element));
  }

  /** @param isNew false for a frame of the look that was shown before. */
  show({ totals, period }: Frame, isNew: boolean): void {
    for (const each of this.#tiles) {
      const { tile, value, chart, element, series } = each;
      const count = totals[tile.of];
      const isRate = tile.of === "rate";
      setText(value, isRate ? (period === 0 ? "–" : rateText(count)) : countText(count));
      setAttribute(element, "data-trouble", tile.isTrouble === true && count > 0 ? "" : null);
      if (!isNew) continue;
      if (period > 0) series.add(tile.isTrouble === true ? Math.max(count - each.last, 0) : count);
      each.last = count;
      chart.draw(series);
    }
  }
}
