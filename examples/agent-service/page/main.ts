import { type ClientError, createClient } from "envoi/http/client";
import type { Result } from "neverthrow";
import type { Service } from "../service";
import { Conversation, type Run } from "./conversation";
import { button, byId, make } from "./elements";

const log = byId("log", HTMLElement);
const list = byId("sessions", HTMLUListElement);
const notice = byId("notice", HTMLElement);
const connection = byId("connection", HTMLElement);
const form = byId("form", HTMLFormElement);
const text = byId("text", HTMLTextAreaElement);

// It comes back for as long as the page is there.
const { sessions } = createClient<Service>({
  url: location.origin,
  fetch: watched,
  retry: { first: 200, longest: 2_000, attempts: Number.POSITIVE_INFINITY },
});

/** The session that is shown; null before its first message. */
let shown: { readonly id: string; readonly reading: AbortController } | null = null;
/** The key of the message that is being written: sent again, it is still one message. */
let key = newKey();

/** Sends a request, and shows whether the service is there. */
async function watched(url: string, init: RequestInit): Promise<Response> {
  try {
    const response = await fetch(url, init);
    if (connection.dataset["state"] === "away") void refresh();
    showConnection("open", "Connected");
    return response;
  } catch (thrown) {
    if (init.signal?.aborted !== true) showConnection("away", "The service is away. Trying again …");
    throw thrown;
  }
}

function showConnection(state: "open" | "away", sentence: string): void {
  if (connection.dataset["state"] === state) return;
  connection.dataset["state"] = state;
  connection.textContent = sentence;
}

/** `crypto.randomUUID` is there for secure origins alone, and a phone opens this page by http. */
function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// ——— Sessions

type Session = Awaited<ReturnType<typeof refresh>>[number];

/** Shows the list of sessions anew, and gives it. */
async function refresh() {
  const listed = await sessions.list({ limit: 100 });
  if (listed.isErr()) return [];
  const all = listed.value.sessions;
  const focused = list.contains(document.activeElement) ? document.activeElement?.id : undefined;
  list.replaceChildren(...all.map(entryOf));
  if (focused !== undefined) document.getElementById(focused)?.focus(); // The list is made anew: the focus stays.
  return all;
}

function entryOf(session: Session): HTMLElement {
  const { id, lastEvent, metadata } = session;
  const { title } = metadata;
  const current = { "aria-current": String(id === shown?.id) };
  const open = button(title, { id: `open-${id}`, class: "session", ...current }, () => show(id, lastEvent));
  const label = { "aria-label": `Delete ${title}` };
  return make(
    "li",
    {},
    open,
    button("×", { id: `delete-${id}`, class: "delete", ...label }, () => void remove(session)),
  );
}

/**
 * Shows a session from its first event on.
 *
 * @param last the last event that has come already.
 */
function show(id: string, last: number): void {
  leave(`#${id}`);
  const reading = new AbortController();
  shown = { id, reading };
  void follow(id, last, reading.signal);
  void refresh();
}

function leave(hash: string): void {
  shown?.reading.abort();
  shown = null;
  notice.textContent = "";
  log.replaceChildren();
  history.replaceState(null, "", hash);
}

/** Shows what happened in a session, and what happens. Where the connection is lost, the client comes back: each event comes once. */
async function follow(id: string, last: number, signal: AbortSignal): Promise<void> {
  const conversation = new Conversation(log, (run) => void goOn(id, run));
  try {
    for await (const event of sessions.at(id).events({ signal })) {
      conversation.show(event);
      if (Number(event.id) < last || event.event === "message") continue;
      void refresh();
      for (const run of conversation.interrupted) void goOn(id, run);
    }
  } catch (thrown) {
    if (signal.aborted) return;
    say(thrown instanceof Error ? thrown.message : String(thrown));
    void refresh();
  }
}

async function remove({ id, metadata }: Session): Promise<void> {
  if (!confirm(`Delete “${metadata.title}”?`)) return;
  if (id === shown?.id) leave("#");
  const deleted = await sessions.at(id).delete();
  if (deleted.isErr()) say(deleted.error.message);
  void refresh();
}

// ——— Messages

/** Sends a message until the service has it. It is handled once: the key says that it is the same. What comes of it is events. */
async function send(tell: () => Promise<Result<number, ClientError>>): Promise<void> {
  for (;;) {
    const told = await tell();
    if (told.isOk()) return;
    const { retryable, retryAfter, message } = told.error;
    if (!retryable) return say(message);
    await new Promise((resolve) => setTimeout(resolve, retryAfter ?? 500));
  }
}

/** Tells the agent to go on. The key names the interruption: it goes on once, however often and by how many pages this is sent. */
const goOn = (id: string, { request, interruptedAt }: Run): Promise<void> =>
  send(() => sessions.at(id).tell("goOn", { request: Number(request) }, { key: `go-on-${interruptedAt}` }));

async function submit(): Promise<void> {
  const said = text.value.trim();
  if (said === "") return;
  notice.textContent = "";
  if (shown === null) {
    const made = await sessions.create({ title: said.slice(0, 60) }, { key });
    if (made.isErr()) return say(made.error.message);
    show(made.value.id, 0);
  }
  const [id, sent] = [shown?.id ?? "", key];
  void send(() => sessions.at(id).tell("work", { text: said }, { key: sent }));
  key = newKey();
  text.value = "";
  text.focus();
}

function say(sentence: string): void {
  notice.textContent = sentence;
}

// ——— The page

form.addEventListener("submit", (event) => {
  event.preventDefault();
  void submit();
});
text.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  form.requestSubmit();
});
byId("new", HTMLButtonElement).addEventListener("click", () => {
  leave("#");
  text.focus();
  void refresh();
});

const known = await refresh();
const wanted = known.find(({ id }) => `#${id}` === location.hash);
if (wanted !== undefined) show(wanted.id, wanted.lastEvent);
text.focus();
