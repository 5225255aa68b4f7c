import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRandom } from "../../../src/testing/index";
import { isLong } from "../../property/runs";
import { bodyOf, eventsOf, type Page, type Shown } from "./chat";

const KILLS = isLong ? 50 : 3;
const CLIENTS = 6;
const ITEMS = 60;

const folder = mkdtempSync(join(tmpdir(), "envoi-kills-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A service that is killed, and started again on the same file. */
class Victim {
  kills = 0;
  /** Messages that a kill interrupted. */
  interrupted = 0;
  /** Events that all clients have received. */
  #events = 0;
  #deadline = 0;
  #child: ReturnType<typeof Bun.spawn> | null = null;
  #url: Promise<string> = Promise.resolve("");
  readonly #path = join(folder, "sessions.sqlite");
  readonly #random = createRandom(7);

  /** It was killed often enough, at least once in the middle of a message: a quick service may have no message under way. */
  get isDone(): boolean {
    return this.kills >= KILLS && this.interrupted > 0;
  }

  get url(): Promise<string> {
    return this.#url;
  }

  start(): void {
    const child = Bun.spawn([process.execPath, join(import.meta.dir, "serve-sessions.ts"), this.#path], {
      stdin: "pipe",
      stdout: "pipe",
      stderr: "inherit",
    });
    this.#child = child;
    this.#url = this.#portOf(child.stdout).then((port) => `http://127.0.0.1:${port}`);
    this.#deadline = this.#events + 1 + this.#random.below(CLIENTS * ITEMS);
  }

  async #portOf(output: ReadableStream<Uint8Array>): Promise<string> {
    const reader = output.getReader();
    const { value } = await reader.read();
    reader.releaseLock();
    return new TextDecoder().decode(value).trim();
  }

  /** A client has received an event: at a random one the service is killed. */
  async received(): Promise<void> {
    if (++this.#events !== this.#deadline || this.isDone) return;
    this.kills++;
    const child = this.#child;
    child?.kill("SIGKILL");
    this.#url = (child?.exited ?? Promise.resolve()).then(() => {
      this.start();
      return this.#url;
    });
  }

  async end(): Promise<void> {
    this.#child?.kill("SIGKILL");
    await this.#child?.exited;
  }
}

interface Message {
  readonly key: string;
  readonly events: { id: number; event: string | undefined; data: string }[];
}

interface Opened {
  readonly location: string;
  readonly messages: Message[];
  isDeleted: boolean;
}

/** Messages of one session. Each third session is deleted after them. */
const MESSAGES = 2;

/** A client that makes sessions, sends messages, comes back to each until it has its end, and deletes some sessions. */
class Client {
  readonly sessions: Opened[] = [];
  readonly #victim: Victim;
  readonly #owner: string;

  constructor(victim: Victim, owner: string) {
    this.#victim = victim;
    this.#owner = owner;
  }

  /** Sends a request until there is an answer: its service may be killed at any time. */
  async request(method: string, path: string, headers: Record<string, string> = {}, body?: object): Promise<Response> {
    for (;;) {
      const url = await this.#victim.url;
      try {
        const json = body === undefined ? {} : { body: JSON.stringify(body) };
        return await fetch(url + path, {
          method,
          headers: { authorization: this.#owner, "content-type": "application/json", ...headers },
          ...json,
        });
      } catch {
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
  }

  async run(): Promise<void> {
    while (!this.#victim.isDone || this.sessions.length < 3) {
      const session = await this.#open();
      while (session.messages.length < MESSAGES) {
        const message: Message = { key: `key-${session.messages.length}`, events: [] };
        session.messages.push(message);
        await this.#follow(session, message);
      }
      if (this.sessions.length % 3 === 0) await this.#delete(session);
    }
  }

  async #open(): Promise<Opened> {
    const key = `${this.#owner}-${this.sessions.length}`;
    const made = await this.request("POST", "/sessions", { "idempotency-key": key }, {});
    expect(made.status).toBe(201);
    const session: Opened = { location: made.headers.get("location") ?? "", messages: [], isDeleted: false };
    this.sessions.push(session);
    return session;
  }

  async #delete(session: Opened): Promise<void> {
    // 404 where the answer to the last attempt was lost.
    expect([204, 404]).toContain((await this.request("DELETE", session.location)).status);
    session.isDeleted = true;
  }

  async #follow({ location }: Opened, { key, events }: Message): Promise<void> {
    const isOver = (): boolean => events.at(-1)?.event !== undefined;
    while (!isOver()) {
      const last = events.at(-1)?.id;
      const resume: Record<string, string> = last === undefined ? {} : { "last-event-id": String(last) };
      const headers = { "idempotency-key": key, ...resume };
      const body = { operation: "count", payload: ITEMS };
      const response = await this.request("POST", `${location}/messages`, headers, body);
      expect(response.status).toBe(200);
      try {
        for await (const { id, event, data = "" } of eventsOf(response)) {
          events.push({ id: Number(id), event, data });
          await this.#victim.received();
        }
      } catch {
        // Cut off: comes back.
      }
    }
    if (events.at(-1)?.event === "error") this.#victim.interrupted++;
  }
}

/** The log of a session as the service has it, but for the requests. */
async function logOf(client: Client, { id, lastEvent }: Shown): Promise<Message["events"]> {
  const stored: Message["events"] = [];
  for await (const event of eventsOf(await client.request("GET", `/sessions/${id}/events`))) {
    const number = Number(event.id);
    if (event.event !== "request") stored.push({ id: number, event: event.event, data: event.data ?? "" });
    if (number === lastEvent) break;
  }
  return stored;
}

test(
  `after kill -9 under load, at least ${KILLS} times, each client resumes: no session and nothing in it is lost, and no event comes twice`,
  async () => {
    const victim = new Victim();
    victim.start();
    const clients = Array.from({ length: CLIENTS }, (_, n) => new Client(victim, `owner-${n}`));
    await Promise.all(clients.map((client) => client.run()));
    expect(victim.kills).toBeGreaterThanOrEqual(KILLS);

    const counted = { sessions: 0, messages: 0, events: 0, interrupted: 0 };
    for (const client of clients) {
      const kept = client.sessions.filter(({ isDeleted }) => !isDeleted);
      const { sessions } = await bodyOf<Page>(await client.request("GET", "/sessions?limit=200"));
      const byLocation = new Map(sessions.map((session) => [`/sessions/${session.id}`, session]));
      // Those that were made, each once, and none that was deleted.
      expect([...byLocation.keys()].sort()).toEqual(kept.map(({ location }) => location).sort());
      expect(sessions.length).toBe(kept.length);
      for (const { location, messages } of kept) {
        const shown = byLocation.get(location);
        if (shown === undefined) throw new Error("It was there before.");
        expect(shown.messages).toBe(MESSAGES); // None was handled twice.
        // The log has what the client got, in order, and nothing else.
        expect(messages.flatMap(({ events }) => events)).toEqual(await logOf(client, shown));
        counted.sessions++;
        for (const { events } of messages) {
          counted.messages++;
          counted.events += events.length;
          const ids = events.map(({ id }) => id);
          expect(new Set(ids).size).toBe(ids.length);
          expect(ids.toSorted((a, b) => a - b)).toEqual(ids);
          const last = events.at(-1);
          const items = events.slice(0, -1).map(({ data }) => Number(data));
          expect(items).toEqual(Array.from({ length: items.length }, (_, n) => n));
          if (last?.event === "error") {
            expect(JSON.parse(last.data)).toMatchObject({ retryable: true });
            counted.interrupted++;
          } else {
            expect([last?.event, items.length]).toEqual(["end", ITEMS]);
          }
        }
      }
    }
    if (isLong) console.log(`${victim.kills} kills: ${JSON.stringify(counted)}`);
    await victim.end();
  },
  isLong ? 300_000 : 60_000,
);
