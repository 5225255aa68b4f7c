import type { SessionEvent } from "envoi/http/client";
import type { Happening } from "../protocols";
import { button, make } from "./elements";

/** What a person wrote, and the agent's work on it. */
export interface Run {
  /** The id of the event that it began with. */
  readonly request: string;
  status: "working" | "done" | "failed" | "interrupted";
  /** The id of the event that says that it was interrupted. */
  interruptedAt: string;
  /** True unless it did nothing since it went on: it might be what ends the service each time. */
  mayGoOn: boolean;
  readonly element: HTMLElement;
  readonly steps: HTMLElement;
  readonly state: HTMLElement;
  /** The step that has no result yet. */
  step: HTMLElement | null;
}

interface Problem {
  readonly kind: string;
  readonly detail: string;
  readonly retryable: boolean;
}

/** Shows the events of one session. */
export class Conversation {
  readonly #log: HTMLElement;
  readonly #onGoOn: (run: Run) => void;
  readonly #runs: Run[] = [];
  /** Runs whose end has not come, in the order in which the agent gets to them. */
  readonly #open: Run[] = [];

  /** @param onGoOn called when a person wants an interrupted run to go on. */
  constructor(log: HTMLElement, onGoOn: (run: Run) => void) {
    this.#log = log;
    this.#onGoOn = onGoOn;
    log.replaceChildren();
  }

  /** The last runs, where they were interrupted: those that go on by themselves. */
  get interrupted(): Run[] {
    const ended = this.#runs.findLastIndex(({ status }) => status === "done" || status === "failed");
    return this.#runs.slice(ended + 1).filter(({ status, mayGoOn }) => status === "interrupted" && mayGoOn);
  }

  show({ id, event, data }: SessionEvent): void {
    const isAtEnd = this.#log.scrollHeight - this.#log.scrollTop - this.#log.clientHeight < 80;
    // The data of each event are as the protocol of the service has them.
    if (event === "request") this.#begin(id, data as Request);
    const [run] = this.#open;
    if (run === undefined) return;
    if (event === "message") this.#happen(run, id, data as Happening);
    else if (event === "end") this.#end(run, id);
    else if (event === "error") this.#fail(run, id, data as Problem);
    if (isAtEnd) this.#log.scrollTop = this.#log.scrollHeight;
  }

  #begin(id: string, { operation, payload }: Request): void {
    const known = operation === "goOn" ? this.#runs.find(({ request }) => Number(request) === payload.request) : null;
    const run = known ?? this.#newRun(id);
    const text = operation === "work" ? (payload.text ?? "") : "The service is back, and goes on.";
    const said = make("p", { class: operation === "work" ? "said" : "note", "data-event": id }, text);
    if (operation === "work") run.element.prepend(said);
    else run.steps.append(make("li", { "data-state": "note" }, said));
    run.element.querySelector("button")?.remove();
    run.mayGoOn = operation === "work";
    setStatus(run, "working");
    this.#open.push(run);
  }

  #newRun(request: string): Run {
    const steps = make("ol");
    const state = make("p", { class: "state" });
    const element = make("article", { "aria-label": "Message and answer" }, steps, state);
    const begun = { status: "working", interruptedAt: "", mayGoOn: true, step: null } as const;
    const run: Run = { request, element, steps, state, ...begun };
    this.#runs.push(run);
    this.#log.append(element);
    return run;
  }

  #happen(run: Run, id: string, happening: Happening): void {
    switch (happening.kind) {
      case "call": {
        const { step, why, tool, input } = happening;
        const summary = make("summary", {}, make("span", {}, `${step}. ${why}`), make("code", {}, tool));
        const details = make("details", { "data-event": id }, summary, make("pre", {}, textOf(input)));
        run.step = make("li", { "data-state": "running" }, details);
        run.steps.append(run.step);
        break;
      }
      case "result": {
        const { ok, result } = happening;
        run.step?.setAttribute("data-state", ok ? "done" : "failed");
        run.step?.firstElementChild?.append(make("pre", { "data-event": id }, textOf(result)));
        run.step = null;
        run.mayGoOn = true;
        break;
      }
      case "answer":
        run.state.before(make("p", { class: "answer", "data-event": id }, happening.text));
        break;
      case "failed":
        run.state.before(make("p", { class: "failed", "data-event": id }, happening.why));
    }
  }

  #end(run: Run, id: string): void {
    this.#open.shift();
    setStatus(run, "done");
    run.state.setAttribute("data-event", id);
  }

  #fail(run: Run, id: string, { kind, detail, retryable }: Problem): void {
    if (kind === "gone") return; // It is no event of the log: the session was deleted.
    this.#open.shift();
    run.step?.setAttribute("data-state", "interrupted");
    run.step = null;
    setStatus(run, retryable ? "interrupted" : "failed");
    const [sentence = ""] = detail.split(/(?<=\.) /); // The rest is for programs: which key to use.
    const note = make("p", { class: retryable ? "note" : "failed", "data-event": id }, sentence);
    run.steps.append(make("li", { "data-state": "note" }, note));
    if (!retryable) return;
    run.interruptedAt = id;
    run.element.append(button("Go on", {}, () => this.#onGoOn(run)));
  }
}

const SHOWN = { working: "Working …", done: "Done", failed: "Failed", interrupted: "Interrupted" };

function setStatus(run: Run, status: Run["status"]): void {
  run.status = status;
  run.state.textContent = SHOWN[status];
}

/** A message to the agent as the log has it. */
interface Request {
  readonly operation: string;
  readonly payload: { readonly text?: string; readonly request?: number };
}

const MOST = 4_000;

/** Shows a value: its texts as they are, the rest as JSON. */
function textOf(value: unknown): string {
  if (typeof value === "string") return value.slice(0, MOST);
  if (typeof value !== "object" || value === null) return String(value);
  const lines = Object.entries(value).map(([name, part]) => {
    if (typeof part !== "string") return `${name}: ${JSON.stringify(part)}`;
    return part.includes("\n") ? `${name}:\n${part}` : `${name}: ${part}`;
  });
  return lines.join("\n").slice(0, MOST);
}
