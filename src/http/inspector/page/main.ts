import { type Frame, MOST_OPEN } from "../shapes";
import { Connection } from "./connection";
import { Credentials } from "./credentials";
import { Detail } from "./detail";
import { byId, setAttribute, setText } from "./dom";
import { Histories } from "./histories";
import { Log } from "./log";
import { countText } from "./numbers";
import { Overview } from "./overview";
import { Letters, Operations } from "./tables";
import { startTabs } from "./tabs";
import { Tree } from "./tree";

/** Milliseconds after the last change of what is to be seen, before it is asked for. */
const CALM = 120;

const CROWDED = "No more lines can be open: close some of them, or find an actor by its name.";

const STATES = { live: "Live", lost: "Connecting", paused: "Paused" };

const status = byId("status", HTMLElement);
const main = byId("main", HTMLElement);
const pause = byId("pause", HTMLButtonElement);
const find = byId("find", HTMLInputElement);
const order = byId("order", HTMLSelectElement);
const found = byId("found", HTMLElement);

/** The lines that are open, with the first sibling that is shown below each. */
const open = new Map<string, number>([["", 0]]);
let look = 0;
let logged = 0;
/** The service that the log is of: another one after a restart. */
let since: number | undefined;
let hasRates = false;
/** True while its reader has paused it. A page that nobody sees is paused besides. */
let isPaused = false;
let later: ReturnType<typeof setTimeout> | undefined;

const histories = new Histories();
const overview = new Overview();
const detail = new Detail(histories);
const log = new Log();
const letters = new Letters();
const operations = new Operations();
const tree = new Tree(histories, {
  onOpen(key, isOpen) {
    if (!isOpen) open.delete(key);
    else if (hasRoom()) open.set(key, 0);
    else return setText(found, CROWDED);
    seeAnew();
  },
  onPage(of, from) {
    open.set(of, from);
    seeAnew();
  },
  onSelect(row) {
    detail.show(row, hasRates);
    log.select(row);
  },
});
startTabs();

const credentials = new Credentials(() => connection.open());
const connection = new Connection({ onFrame, onState, onRefused, headers: () => credentials.headers, query });

/** Asks for what is to be seen now, once it has not changed for a moment. */
function seeAnew(): void {
  if (isPaused) setText(found, "This page is paused: let it go on to see what you asked for.");
  clearTimeout(later);
  later = setTimeout(() => connection.open(), CALM);
}

function query(): string {
  const params = new URLSearchParams({ order: order.value, logged: String(logged) });
  if (since !== undefined) params.set("since", String(since));
  const text = find.value.trim();
  if (text !== "") params.set("find", text);
  for (const [key, from] of open) params.append("open", `${from}.${key}`);
  return params.toString();
}

/** True when one more line may be open. Lines that are not shown are closed for it. */
function hasRoom(): boolean {
  if (open.size < MOST_OPEN) return true;
  for (const key of open.keys()) if (key !== "" && !tree.has(key)) open.delete(key);
  return open.size < MOST_OPEN;
}

function onFrame(frame: Frame): void {
  const isNew = frame.look !== look;
  look = frame.look;
  ({ logged, since } = frame);
  hasRates = frame.period > 0;
  main.hidden = false;
  pause.hidden = false;
  const { name, version } = frame.service;
  setText(byId("service", HTMLElement), `${name} ${version}`);
  document.title = `${name} – Inspector`;
  if (isNew && hasRates) histories.add(frame.rows);
  overview.show(frame, isNew);
  tree.show(frame.rows, hasRates);
  detail.show(tree.selected, hasRates);
  setText(found, foundText(frame));
  byId("heads", HTMLElement).hidden = frame.rows.length === 0;
  letters.show(frame.letters);
  operations.show(frame.operations, isNew, hasRates);
  log.add(frame);
}

function foundText({ found, rows }: Frame): string {
  if (found === null) return rows.length === 0 ? "There are no actors." : open.size < MOST_OPEN ? "" : CROWDED;
  return found === 1 ? "1 actor found" : `${found === 0 ? "No" : countText(found)} actors found`;
}

function onState(state: keyof typeof STATES): void {
  setText(status, STATES[state]);
  setAttribute(status, "data-state", state);
}

function onRefused(refusal: number, text: string): void {
  setText(status, refusal === 401 || refusal === 403 ? "Signed out" : text);
  setAttribute(status, "data-state", "lost");
  if (refusal === 401 || refusal === 403) {
    main.hidden = true;
    pause.hidden = true;
    credentials.ask(text);
  }
}

function goOn(): void {
  if (isPaused || document.hidden) connection.pause();
  else connection.resume();
}

pause.addEventListener("click", () => {
  isPaused = !isPaused;
  setAttribute(pause, "aria-pressed", String(isPaused));
  goOn();
});
document.addEventListener("visibilitychange", goOn);
find.addEventListener("input", () => {
  open.set("", 0);
  seeAnew();
});
order.addEventListener("change", seeAnew);
if (document.hidden) connection.pause();
else connection.open();
