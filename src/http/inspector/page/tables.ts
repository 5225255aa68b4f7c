import type { LetterRow, OperationRow } from "../shapes";
import { byId, make, setText } from "./dom";
import { clockText, countText, rateText, timeText } from "./numbers";
import { Series, Sparkline } from "./sparkline";

interface Column {
  readonly name: string;
  /** Its width in the style sheet. Default: it shares the rest. */
  readonly kind?: "number" | "time" | "word" | "part" | "graph";
}

/** A table that keeps its rows by key. On a phone, each row is a block of its own. */
class Table {
  readonly #body = make("tbody", { attributes: { role: "rowgroup" } });
  readonly #note = make("p", { class: "hint" });
  readonly #table: HTMLTableElement;
  readonly #columns: readonly Column[];
  readonly #rows = new Map<string, HTMLTableRowElement>();

  constructor(panel: string, caption: string, columns: readonly Column[]) {
    this.#columns = columns;
    const heads = columns.map(({ name, kind = "" }) =>
      make("th", {
        text: name,
        class: kind,
        attributes: { scope: "col", role: "columnheader" },
      }),
    );
    this.#table = make(
      "table",
      { attributes: { role: "table" } },
      make("caption", { class: "unseen", text: caption }),
      make("thead", { attributes: { role: "rowgroup" } }, make("tr", { attributes: { role: "row" } }, ...heads)),
      this.#body,
    );
    byId(panel, HTMLElement).append(this.#note, this.#table);
  }

  /**
   * @param none stands in place of the table where there are no rows.
   * @param note stands above the table.
   */
  show(
    rows: readonly { readonly key: string; readonly cells: readonly (string | Element)[] }[],
    none: string,
    note = "",
  ): void {
    setText(this.#note, rows.length === 0 ? none : note);
    this.#table.hidden = rows.length === 0;
    const keys = new Set(rows.map(({ key }) => key));
    for (const [key, row] of this.#rows) {
      if (keys.has(key)) continue;
      row.remove();
      this.#rows.delete(key);
    }
    let previous: Element | null = null;
    for (const { key, cells } of rows) {
      const row = this.#rowOf(key);
      for (const [index, cell] of cells.entries()) {
        const place = row.children[index];
        if (place === undefined) continue;
        if (typeof cell === "string") setText(place, cell);
        else if (place.firstElementChild !== cell) place.replaceChildren(cell);
      }
      const place: Element | null = previous === null ? this.#body.firstElementChild : previous.nextElementSibling;
      if (place !== row) this.#body.insertBefore(row, place);
      previous = row;
    }
  }

  #rowOf(key: string): HTMLTableRowElement {
    let row = this.#rows.get(key);
    if (row === undefined) {
      const cells = this.#columns.map(({ name, kind = "" }) =>
        make("td", { class: kind, attributes: { role: "cell", "data-label": name } }),
      );
      row = make("tr", { attributes: { role: "row" } }, ...cells);
      this.#rows.set(key, row);
    }
    return row;
  }
}

/** The dead letters by reason. */
export class Letters {
  readonly #table = new Table("panel-letters", "Dead letters by reason, address and operation", [
    { name: "Last", kind: "time" },
    { name: "Count", kind: "number" },
    { name: "Reason", kind: "word" },
    { name: "Address", kind: "part" },
    { name: "Operation", kind: "part" },
    { name: "What happened" },
  ]);

  show(letters: readonly LetterRow[]): void {
    const rows = letters.map(({ reason, address, operation, count, at, description }) => ({
      key: JSON.stringify([reason, address, operation]),
      cells: [clockText(at), countText(count), reason, address, operation, description],
    }));
    this.#table.show(
      rows,
      "No message was dead-lettered while an inspector was open.",
      "Counted while an inspector was open, and of a flood not all. The number at the top has all.",
    );
  }
}

/** The operations, with the time of their handlers. */
export class Operations {
  readonly #charts = new Map<string, { readonly series: Series; readonly chart: Sparkline }>();
  readonly #table = new Table("panel-operations", "Operations by rate", [
    { name: "Operation" },
    { name: "Rate", kind: "number" },
    { name: "Mean time", kind: "number" },
    { name: "p99 time", kind: "number" },
    { name: "Mean over time", kind: "graph" },
    { name: "Failed", kind: "number" },
    { name: "Dead", kind: "number" },
  ]);

  show(operations: readonly OperationRow[] | null, isNew: boolean, hasRates: boolean): void {
    const rows = (operations ?? []).map((row) => {
      const { protocol, operation, rate, mean, high, failed, dead } = row;
      const key = JSON.stringify([protocol, operation]);
      const { series, chart } = this.#chartOf(key);
      if (isNew && mean !== null && hasRates) series.add(mean);
      chart.draw(series);
      const name = `${protocol || "(no protocol)"}.${operation || "(unknown)"}`;
      const shown = hasRates ? rateText(rate) : "–";
      const times = hasRates ? [timeText(mean), timeText(high)] : ["–", "–"];
      return { key, cells: [name, shown, ...times, chart.element, countText(failed), countText(dead)] };
    });
    const none =
      "The system has no metrics. Make it with createSystem({ metrics: true }) to see how long handlers take.";
    this.#table.show(rows, operations === null ? none : "No message has been handled yet.");
  }

  #chartOf(key: string): { readonly series: Series; readonly chart: Sparkline } {
    let found = this.#charts.get(key);
    if (found === undefined) {
      found = { series: new Series(), chart: new Sparkline() };
      this.#charts.set(key, found);
    }
    return found;
  }
}
