import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRandom } from "../../../src/testing/index";
import { isLong } from "../../property/runs";
import { bodyOf, eventsOf, type Page } from "./chat";

const KILLS = isLong ? 50 : 3;
const CLIENTS = 6;
const ITEMS = 60;

const folder = mkdtempSync(join(tmpdir(), "envoi-kills-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A service that is killed, and started again on the same file. */
class Victim {
  kills = 0;
  /** Events that all clients have received. */
  #events = 0;
  #deadline = 0;
  #child: ReturnType<typeof Bun.spawn> | null = null;
  #url: Promise<string> = Promise.resolve("");
  readonly #path = join(folder, "sessions.sqlite");
  readonly #random = createRandom(7);

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
    if (++this.#events !== this.#deadline || this.kills >= KILLS) return;
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

/** A client that makes a session, sends messages, and comes back to each until it has its end. */
class Client {
  readonly messages: Message[] = [];
  location = "";
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
    const made = await this.request("POST", "/sessions", { "idempotency-key": `${this.#owner}-session` }, {});
    expect(made.status).toBe(201);
    this.location = made.headers.get("location") ?? "";
    while (this.#victim.kills < KILLS || this.messages.length < 3) {
      const message: Message = { key: `${this.#owner}-${this.messages.length}`, events: [] };
      this.messages.push(message);
      await this.#follow(message);
    }
  }

  async #follow({ key, events }: Message): Promise<void> {
    const isOver = (): boolean => events.at(-1)?.event !== undefined;
    while (!isOver()) {
      const last = events.at(-1)?.id;
      const resume: Record<string, string> = last === undefined ? {} : { "last-event-id": String(last) };
      const headers = { "idempotency-key": key, ...resume };
      const body = { operation: "count", payload: ITEMS };
      const response = await this.request("POST", `${this.location}/messages`, headers, body);
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
  }
}

test(
  `after kill -9 under load, ${KILLS} times, each client resumes: nothing is lost, and no event comes twice`,
  async () => {
    const victim = new Victim();
    victim.start();
    const clients = Array.from({ length: CLIENTS }, (_, n) => new Client(victim, `owner-${n}`));
    await Promise.all(clients.map((client) => client.run()));
    expect(victim.kills).toBe(KILLS);

    let cut = 0;
    for (const client of clients) {
      const { messages, location } = client;
      const { sessions } = await bodyOf<Page>(await client.request("GET", "/sessions"));
      expect(sessions.map(({ id }) => `/sessions/${id}`)).toEqual([location]);
      expect(sessions[0]?.messages).toBe(messages.length); // None was handled twice.
      // The log has what each client got, in order, and nothing else.
      const stored: Message["events"] = [];
      for await (const { id, event, data = "" } of eventsOf(await client.request("GET", `${location}/events`))) {
        if (event !== "request") stored.push({ id: Number(id), event, data });
        if (Number(id) === sessions[0]?.lastEvent) break;
      }
      expect(messages.flatMap(({ events }) => events)).toEqual(stored);
      for (const { events } of messages) {
        const ids = events.map(({ id }) => id);
        expect(new Set(ids).size).toBe(ids.length);
        expect(ids.toSorted((a, b) => a - b)).toEqual(ids);
        const last = events.at(-1);
        const items = events.slice(0, -1).map(({ data }) => Number(data));
        expect(items).toEqual(Array.from({ length: items.length }, (_, n) => n));
        if (last?.event === "error") {
          expect(JSON.parse(last.data)).toMatchObject({ retryable: true });
          cut++;
        } else {
          expect([last?.event, items.length]).toEqual(["end", ITEMS]);
        }
      }
    }
    expect(cut).toBeGreaterThan(0); // Some were in the middle when they were killed.
    await victim.end();
  },
  isLong ? 300_000 : 60_000,
);
