import type { TreeRow } from "../shapes";
import { byId, setAttribute } from "./dom";
import type { Histories } from "./histories";
import { TreeItem } from "./tree-item";

/** The wishes of the tree. */
export interface TreeWishes {
  readonly onOpen: (key: string, isOpen: boolean) => void;
  /** Shows the siblings from another one on. */
  readonly onPage: (of: string, from: number) => void;
  /** Undefined where the selected line is gone. */
  readonly onSelect: (row: TreeRow | undefined) => void;
}

/**
 * The tree, as a list of lines with levels. One line has the focus at a time, and is the selected one; the arrow keys move it, as the pattern of a
 * tree view of WAI-ARIA says. Lines that stay keep their elements.
 */
export class Tree {
  readonly #root = byId("tree", HTMLElement);
  readonly #items = new Map<string, TreeItem>();
  readonly #wishes: TreeWishes;
  readonly #histories: Histories;
  #rows: readonly TreeRow[] = [];
  /** The key of the line that the tab key leads to. */
  #current = "";
  /** A page that was turned to: its first line gets the focus once it is shown. */
  #turned: { readonly of: string; readonly from: number } | null = null;

  constructor(histories: Histories, wishes: TreeWishes) {
    this.#histories = histories;
    this.#wishes = wishes;
    this.#root.addEventListener("keydown", (event) => this.#onKey(event));
    this.#root.addEventListener("click", (event) => this.#onClick(event));
    this.#root.addEventListener("focusin", (event) => this.#onFocus(event));
    this.#root.addEventListener("focus", () => this.#items.get(this.#current)?.element.focus());
  }

  get selected(): TreeRow | undefined {
    return this.#rows.find(({ key }) => key === this.#current);
  }

  /** True for the key of a line that is shown. */
  has(key: string): boolean {
    return this.#items.has(key);
  }

  /** @param hasRates false at the first look, which knows none. */
  show(rows: readonly TreeRow[], hasRates: boolean): void {
    const before = this.#rows.findIndex(({ key }) => key === this.#current);
    const hadFocus = this.#root.contains(document.activeElement);
    this.#rows = rows;
    this.#removeAllBut(new Set(rows.map(({ key }) => key)));
    let previous: Element | null = null;
    for (const row of rows) {
      const item = this.#itemOf(row.key);
      item.show(row, hasRates, row.kind === "page" ? null : this.#histories.of(row.key));
      const place: Element | null = previous === null ? this.#root.firstElementChild : previous.nextElementSibling;
      if (place !== item.element) this.#root.insertBefore(item.element, place);
      previous = item.element;
    }
    this.#settle(before, hadFocus);
  }

  /** Called before others come: those that stay are then in their places, and need not be moved. */
  #removeAllBut(keys: ReadonlySet<string>): void {
    for (const [key, { element }] of this.#items) {
      if (keys.has(key)) continue;
      element.remove();
      this.#items.delete(key);
    }
  }

  /** Finds the line that has the focus now, where the one that had it has moved or gone. */
  #settle(before: number, hadFocus: boolean): void {
    const first = this.#firstOfPage();
    if (first !== undefined) {
      this.#turned = null;
      this.#current = first.key;
    } else if (!this.#items.has(this.#current)) {
      this.#current = this.#rows[Math.max(0, Math.min(before, this.#rows.length - 1))]?.key ?? "";
    }
    this.#mark();
    const element = this.#items.get(this.#current)?.element;
    if (hadFocus && document.activeElement !== element) element?.focus({ preventScroll: first === undefined });
    this.#wishes.onSelect(this.selected);
  }

  #firstOfPage(): TreeRow | undefined {
    if (this.#turned === null) return undefined;
    const { of, from } = this.#turned;
    const parent = of === "" ? -1 : this.#rows.findIndex(({ key }) => key === of);
    const row = this.#rows.find(({ kind }, index) => index > parent && kind !== "page");
    return row?.place === from + 1 ? row : undefined; // Else the page has not come yet.
  }

  #itemOf(key: string): TreeItem {
    let item = this.#items.get(key);
    if (item === undefined) {
      item = new TreeItem(key);
      this.#items.set(key, item);
    }
    return item;
  }

  #mark(): void {
    for (const [key, { element }] of this.#items) {
      const isCurrent = key === this.#current;
      setAttribute(element, "tabindex", isCurrent ? "0" : "-1");
      setAttribute(element, "aria-selected", String(isCurrent));
    }
    setAttribute(this.#root, "tabindex", this.#items.size === 0 ? "0" : "-1");
  }

  #rowAt(target: EventTarget | null): TreeRow | undefined {
    const element = target instanceof Element ? target.closest('[role="treeitem"]') : null;
    return this.#rows.find(({ key }) => this.#items.get(key)?.element === element);
  }

  #onFocus({ target }: Event): void {
    const row = this.#rowAt(target);
    if (row === undefined || row.key === this.#current) return;
    this.#current = row.key;
    this.#turned = null;
    this.#mark();
    this.#wishes.onSelect(row);
  }

  #onClick({ target }: Event): void {
    const row = this.#rowAt(target);
    if (row === undefined) return;
    this.#items.get(row.key)?.element.focus();
    const isToggle = target instanceof Element && target.closest(".toggle") !== null;
    if (row.kind === "page" || row.kind === "group" || isToggle) this.#activate(row);
  }

  /** Turns a page, opens what is closed, and closes what is open. */
  #activate(row: TreeRow): void {
    if (row.kind === "page") {
      const { of = "", from = 0 } = row;
      this.#turned = { of, from };
      this.#wishes.onPage(of, from);
    } else if (row.isOpen !== undefined) this.#wishes.onOpen(row.key, !row.isOpen);
  }

  #onKey(event: KeyboardEvent): void {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const index = this.#rows.findIndex(({ key }) => key === this.#current);
    const row = this.#rows[index];
    if (row === undefined) return;
    switch (event.key) {
      case "ArrowDown":
        this.#focus(index + 1);
        break;
      case "ArrowUp":
        this.#focus(index - 1);
        break;
      case "Home":
        this.#focus(0);
        break;
      case "End":
        this.#focus(this.#rows.length - 1);
        break;
      case "ArrowRight":
        if (row.isOpen === false) this.#wishes.onOpen(row.key, true);
        else if (row.isOpen === true && (this.#rows[index + 1]?.level ?? 0) > row.level) this.#focus(index + 1);
        break;
      case "ArrowLeft":
        if (row.isOpen === true) this.#wishes.onOpen(row.key, false);
        else this.#focus(this.#rows.findLastIndex((each, at) => at < index && each.level < row.level));
        break;
      case "Enter":
      case " ":
        this.#activate(row);
        break;
      default:
        return;
    }
    event.preventDefault();
  }

  #focus(index: number): void {
    const row = this.#rows[index];
    if (row !== undefined) this.#items.get(row.key)?.element.focus();
  }
}
