import { byId, setAttribute } from "./dom";

/** Tabs, as the pattern of WAI-ARIA says: the arrow keys move among them, and the tab key leads to the panel. */
export function startTabs(): void {
  const list = byId("tabs", HTMLElement);
  const tabs = [...list.querySelectorAll<HTMLElement>('[role="tab"]')];

  function choose(chosen: HTMLElement): void {
    for (const tab of tabs) {
      const isChosen = tab === chosen;
      setAttribute(tab, "aria-selected", String(isChosen));
      setAttribute(tab, "tabindex", isChosen ? "0" : "-1");
      panelOf(tab).hidden = !isChosen;
    }
  }

  for (const tab of tabs) {
    tab.addEventListener("click", () => choose(tab));
    panelOf(tab).tabIndex = 0; // The keyboard reaches it, though it has nothing to use.
  }
  list.addEventListener("keydown", (event) => {
    const at = tabs.indexOf(document.activeElement as HTMLElement); // One that is no HTMLElement is not among them.
    const places: Readonly<Record<string, number>> = {
      ArrowRight: (at + 1) % tabs.length,
      ArrowLeft: (at + tabs.length - 1) % tabs.length,
      Home: 0,
      End: tabs.length - 1,
    };
    const next = tabs[places[event.key] ?? -1];
    if (next === undefined) return;
    event.preventDefault();
    choose(next);
    next.focus();
  });
  const [first] = tabs;
  if (first !== undefined) choose(first);
}

const panelOf = (tab: HTMLElement): HTMLElement => byId(tab.getAttribute("aria-controls") ?? "", HTMLElement);
