import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseCommand, UsageError } from "../../examples/agent-service/command-line";
import { hasBrowser, type Tab, testBrowser } from "../http/browser";
import { isLong } from "../property/runs";
import { refusalOf } from "./refusal";

const project = join(import.meta.dir, "../..");
const main = join(project, "examples/agent-service/main.ts");
const folder = mkdtempSync(join(tmpdir(), "envoi-service-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The service as a program of its own. */
class Program {
  readonly url: Promise<string>;
  readonly #child: ReturnType<typeof Bun.spawn>;

  constructor(data: string, port = 0, pause = 100) {
    const child = Bun.spawn(
      [process.execPath, main, "--data", data, "--port", String(port), "--pause", String(pause)],
      { stdin: "ignore", stdout: "pipe", stderr: "inherit" },
    );
    this.#child = child;
    this.url = this.#read(child.stdout);
  }

  async #read(output: ReadableStream<Uint8Array>): Promise<string> {
    let text = "";
    for await (const piece of output) {
      text += new TextDecoder().decode(piece);
      const [, url] = /^The agent is at (\S+)$/m.exec(text) ?? [];
      if (url !== undefined) return url;
    }
    throw new Error(`The service did not start: ${text}`);
  }

  /** Resolves with its status once it has ended. */
  async end(signal: "SIGKILL" | "SIGINT" | "SIGTERM"): Promise<number> {
    this.#child.kill(signal);
    return this.#child.exited;
  }
}

const browser = testBrowser();

describe.skipIf(!hasBrowser)("in a browser", () => {
  const data = join(folder, "browser");
  const service = { url: "", program: new Program(data) };
  let tab: Tab;

  /** The value of an expression of the page. */
  const valueIn = async <Value>(expression: string): Promise<Value> => (await tab.page.evaluate(expression)) as Value;
  const until = (expression: string): Promise<unknown> => tab.page.waitForFunction(expression, { timeout: 30_000 });
  const textOf = (selector: string): Promise<string> =>
    valueIn(`document.querySelector(${JSON.stringify(selector)}).textContent`);
  /** The ids of the events that the page shows, in the order of its elements. */
  const shownIds = (): Promise<number[]> =>
    valueIn(`[...document.querySelectorAll("[data-event]")].map((each) => Number(each.dataset.event))`);
  /** The session that the page shows, as the service has it. */
  const session = async (): Promise<{ id: string; lastEvent: number; messages: number }> => {
    const response = await fetch(`${service.url}sessions/${await valueIn("location.hash.slice(1)")}`);
    return (await response.json()) as { id: string; lastEvent: number; messages: number }; // As docs/sessions.md has it.
  };
  /** Sends a message by the keyboard. */
  const say = async (text: string): Promise<void> => {
    await tab.page.focus("#text");
    await tab.page.keyboard.type(text);
    await tab.page.keyboard.press("Enter");
  };
  const isDone = (count: number): string =>
    `[...document.querySelectorAll(".state")].filter(({ textContent }) => textContent === "Done").length === ${count}`;

  beforeAll(async () => {
    service.url = await service.program.url;
    tab = await browser.open(service.url);
  });
  afterAll(async () => {
    await tab[Symbol.asyncDispose]();
    await service.program.end("SIGKILL");
  });

  test("a message is sent, the service is killed with -9 in the middle and started again: each event is shown once, and the answer comes", async () => {
    await until("document.activeElement.id === 'text'");
    await say("The cat, <b>the dog</b>");
    await until("document.querySelectorAll('li[data-state=done]').length >= 2");
    await service.program.end("SIGKILL");
    await until("document.querySelector('#connection').dataset.state === 'away'");
    service.program = new Program(data, Number(new URL(service.url).port));
    await service.program.url;
    await until(isDone(1));

    const { id, lastEvent, messages } = await session();
    expect(messages).toBe(2); // What was said, and to go on: each once.
    const all = Array.from({ length: lastEvent }, (_, index) => index + 1);
    expect((await shownIds()).toSorted((a, b) => a - b)).toEqual(all);
    expect(await textOf("#connection")).toBe("Connected");
    expect(await textOf(".said")).toBe("The cat, <b>the dog</b>");
    expect(await textOf(".note")).toBe("The service ended while it answered this message.");
    expect(await textOf(".answer")).toBe(
      "Your message has 6 words, 4 of them different. Most often: “b” (2), “the” (2), “cat” (1), “dog” (1). The report is in report.md.",
    );
    // It went on: no step whose result was stored was done again.
    const steps =
      "[...document.querySelectorAll('li[data-state=done] summary span')].map(({ textContent }) => textContent)";
    expect(await valueIn<string[]>(steps)).toEqual([
      "1. Keep the message",
      "2. Look at all messages so far",
      "3. Count their words",
      "4. Write a report",
      "5. Read it once more",
    ]);
    const workspace = join(data, "workspaces", id);
    expect(readdirSync(join(workspace, "messages"))).toEqual(["001.txt"]);
    expect(readFileSync(join(workspace, "report.md"), "utf8")).toStartWith("# 6 words in 1 message\n");
  });

  test("a page that is loaded again shows the same, and the next message is answered by all that was said", async () => {
    const before = (await shownIds()).toSorted((a, b) => a - b);
    await tab.page.reload();
    await until(isDone(1));
    expect((await shownIds()).toSorted((a, b) => a - b)).toEqual(before);
    expect((await session()).messages).toBe(2);
    await say("mouse");
    await until(isDone(2));
    expect(await valueIn<string>("[...document.querySelectorAll('.answer')].at(-1).textContent")).toStartWith(
      "Your 2 messages have 7 words",
    );
  });

  test("it works by keyboard, on a phone, and in the dark", async () => {
    await tab.page.setViewport({ width: 360, height: 640 });
    expect(await valueIn<boolean>("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    const colours = "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]";
    const light = await valueIn<string[]>(colours);
    await tab.page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }]);
    expect(await valueIn<string[]>(colours)).not.toEqual(light);

    await tab.page.focus("#new");
    await tab.page.keyboard.press("Enter"); // A new session: nothing is shown, and the message has the focus.
    expect(await valueIn<string>("document.activeElement.id")).toBe("text");
    expect(await shownIds()).toEqual([]);
    await tab.page.focus("#new");
    await tab.page.keyboard.press("Tab");
    expect(await valueIn<string>("document.activeElement.className")).toBe("session");
    await tab.page.keyboard.press("Enter");
    await until(isDone(2));
    expect(await valueIn<string>("document.activeElement.className")).toBe("session"); // Still, though the list was made anew.
  });

  test("a session that is deleted is gone from the page, and its files, too", async () => {
    tab.page.once("dialog", (dialog) => void dialog.accept());
    await tab.page.keyboard.press("Tab");
    await tab.page.keyboard.press("Enter");
    await until("document.querySelectorAll('.session').length === 0");
    expect(await shownIds()).toEqual([]);
    expect(readdirSync(join(data, "workspaces"))).toEqual([]);
  });

  test.skipIf(!isLong)(
    "a message that ends the service each time goes on by itself once, and then when a person says so",
    async () => {
      const isInterrupted = "document.querySelector('.state').textContent === 'Interrupted'";
      const restart = async (pause: number): Promise<void> => {
        await service.program.end("SIGKILL");
        service.program = new Program(data, Number(new URL(service.url).port), pause);
        await service.program.url;
      };
      await restart(60_000); // No step begins.
      await say("mouse");
      await until("document.querySelector('.state')?.textContent === 'Working …'");
      await restart(60_000);
      await until("document.querySelectorAll('.note').length === 2"); // It was interrupted, and goes on.
      await restart(0);
      await until(isInterrupted);
      expect((await session()).messages).toBe(2);
      await tab.page.click("article button");
      await until(isDone(1));
      expect((await session()).messages).toBe(3);
    },
  );

  test("SIGTERM ends it in order", async () => {
    expect(await service.program.end("SIGTERM")).toBe(143);
  });
});

test("the command line", () => {
  const parse = (...words: string[]) => parseCommand(words, {});
  expect(parse("--help")).toBeUndefined();
  expect(parse("--port", "0", "--data", "/tmp/there", "--pause", "0")).toEqual({
    port: 0,
    hostname: "127.0.0.1",
    data: "/tmp/there",
    pause: 0,
    allow: [],
    trace: false,
  });
  expect(parse("--trace")?.trace).toBe(true);
  const urls = ["https://a.test/*", "https://b.test/*"];
  expect(parse(...urls.flatMap((url) => ["--allow", url]))?.allow).toEqual(urls);
  const refused = (...words: string[]): string => refusalOf(() => parse(...words), UsageError);
  expect(refused("--port", "http")).toBe('--port needs a whole number from 0 to 65535; got "http".');
  expect(refused("--port", "65536")).toContain("65535");
  expect(refused("--pause", "-1")).toContain("--pause");
  expect(refused("--data", "")).toBe("--data needs a folder.");
  expect(refused("--host", " ")).toContain("0.0.0.0");
  expect(refused("--colour")).toContain("--colour");
  expect(refused("here")).toContain("--help");
});

test("a port or a folder that is in use is told in one sentence", async () => {
  const data = join(folder, "twice");
  const program = new Program(data);
  const { port } = new URL(await program.url);
  const start = async (...words: string[]) => {
    const child = Bun.spawn([process.execPath, main, ...words], { stdout: "pipe", stderr: "pipe" });
    const [status, said] = await Promise.all([child.exited, child.stderr.text()]);
    return { status, said };
  };
  expect(await start("--data", join(folder, "other"), "--port", port)).toEqual({
    status: 1,
    said: `Port ${port} is in use: end its server, or give another port.\n`,
  });
  const { status, said } = await start("--data", data, "--port", "0");
  expect(status).toBe(1);
  expect(said).toContain("are in use by another gateway: stop it first");
  expect(said.trim().split("\n").length).toBe(1);
  expect(await program.end("SIGINT")).toBe(130);
});

// It takes 5 s of a processor.
test.skipIf(!isLong)(
  "the compiler accepts the page, which has the types of a browser",
  async () => {
    const tsc = Bun.spawn([process.execPath, "--bun", "run", "tsc", "-p", "examples/agent-service/page"], {
      cwd: project,
      stdout: "pipe",
    });
    const said = await tsc.stdout.text();
    // The page has the type of the service, and the checkout its sources: they need the types of Bun.
    expect(said.split("\n").filter((line) => line !== "" && !/^(?:src\/| )/.test(line))).toEqual([]);
  },
  120_000,
);
