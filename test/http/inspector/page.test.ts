import { afterAll, describe, expect, test } from "bun:test";
import { bearerTokens, type ServeOptions, serve } from "../../../src/http/index";
import { address, createMessage, createSystem, type Factory, type SignaturesOf } from "../../../src/index";
import { hasBrowser, type Tab, testBrowser } from "../browser";
import { FAINT, FOCUSED, LINES, run, until } from "./pages";
import { Boss, named, spawnBoss, spawnWorker } from "./service";

const browser = testBrowser();
const stops: (() => Promise<unknown>)[] = [];
afterAll(() => Promise.all(stops.map((stop) => stop())));

/** A service with a pool of actors, and its inspector. */
function service(options: Omit<ServeOptions, "expose"> = { inspector: { isOpen: true, every: 100 } }) {
  const system = createSystem({ metrics: { sample: 1 }, logger: { warn() {}, error() {} } });
  spawnBoss(system, "pool", [...named("worker", 120), "clerk"]);
  spawnBoss(system, "a-pool-with-a-name-that-is-far-longer-than-any-phone-is-wide-and-goes-on-and-on", ["deep"]);
  spawnWorker(system, "alone");
  const server = serve(system, { port: 0, hostname: "127.0.0.1", signals: [], ...options, expose: {} });
  stops.push(() => server.stop({ streams: 0 }));
  const fail = (): void => system.router.tell(createMessage(address("pool/clerk"), "fail", undefined));
  const tellNobody = (type: string): void => system.router.tell(createMessage(address("nobody-home"), type, undefined));
  return { system, url: new URL("inspect", server.url), fail, tellNobody };
}

const PHONE = { width: 360, height: 740, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };

/** Opens the page, and waits for its first frame. */
async function opened(url: URL, viewport?: typeof PHONE): Promise<Tab> {
  const tab = await browser.open(url);
  if (viewport !== undefined) {
    await tab.page.setViewport(viewport);
    await tab.page.reload();
  }
  await run(
    tab.page,
    'globalThis.violations = []; document.addEventListener("securitypolicyviolation", (event) => violations.push(event.violatedDirective))',
  );
  await until(tab.page, `${LINES}.length > 0`);
  return tab;
}

/** Holds the page to having done nothing that it may not. */
async function expectClean({ page, errors }: Tab): Promise<void> {
  expect(errors).toEqual([]);
  expect(await run<string[]>(page, "violations")).toEqual([]);
}

/** True while the page asks for credentials. The form is put away at once when they are given. */
const ASKS = `document.activeElement.id === "credential" && document.activeElement.checkVisibility()`;

const TEXT_OF = (id: string): string => `document.getElementById("${id}").innerText`;

describe.skipIf(!hasBrowser)("The page of the inspector, in Chromium", () => {
  test("shows the tree, and failures, restarts and dead letters as they happen", async () => {
    const { url, fail, tellNobody } = service();
    await using tab = await opened(url);
    const { page } = tab;
    expect((await run<string[]>(page, LINES)).length).toBe(3);
    expect(await run<string>(page, TEXT_OF("overview"))).toContain("125");
    await page.click('[data-key="@(pool)"] .toggle');
    await until(page, `${LINES}.includes("  worker-*")`);
    expect(await run<string>(page, `document.querySelector('[data-key^="*"] .badge').textContent`)).toBe("120");
    fail();
    await until(page, `${TEXT_OF("log")}.includes("fail: the disk is full (restart)")`);
    await until(page, `document.querySelector('[data-key="@(pool/clerk)"] .restarts').textContent === "1"`);
    tellNobody("greet");
    await until(page, `${TEXT_OF("log")}.includes("dead-letter")`);
    await page.click("#tab-letters");
    await until(page, `${TEXT_OF("panel-letters")}.includes("nobody-home")`);
    await page.click("#tab-operations");
    await until(page, `${TEXT_OF("panel-operations")}.includes("worker.fail")`);
    await expectClean(tab);
  }, 30_000);

  test("P18: shows what strangers write as text, whatever it looks like", async () => {
    const { url, tellNobody } = service();
    await using tab = await opened(url);
    const { page } = tab;
    const hostile = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`;
    tellNobody(hostile);
    await page.click("#tab-letters");
    await until(page, `${TEXT_OF("panel-letters")}.includes("<img src=x")`);
    expect(await run<number>(page, 'document.querySelectorAll("main img, main script").length')).toBe(0);
    expect(await page.title()).not.toContain("owned");
    await page.type("#find", "<b>bold");
    await until(page, `${TEXT_OF("found")} === "No actors found"`);
    await expectClean(tab);
  }, 30_000);

  test("finds actors, and turns pages", async () => {
    const { url } = service();
    await using tab = await opened(url);
    const { page } = tab;
    await page.type("#find", "worker-11");
    await until(page, `${TEXT_OF("found")} === "11 actors found"`);
    expect((await run<string[]>(page, LINES))[0]).toBe("pool/worker-11");
    await run(page, 'document.getElementById("find").select()');
    await page.keyboard.type("worker");
    await until(page, `${LINES}.includes("Next: 51–100 of 120")`);
    await page.click('[data-kind="page"]');
    await until(page, `${LINES}.includes("Next: 101–120 of 120")`);
    await until(page, `${FOCUSED} === "pool/worker-51"`);
    await expectClean(tab);
  }, 30_000);

  test("says so where no more lines can be open", async () => {
    const { url, system } = service();
    const nothing = { hire() {}, dismiss() {}, work() {} };
    const names = Array.from("abcdefghijklmnopqrst", (letter) => [letter, letter.repeat(2)]).flat();
    for (const root of ["one", "two", "three", "four"]) {
      system.spawn(root, Boss, (ctx) => {
        const parent: Factory<SignaturesOf<typeof Boss>> = (inner) => {
          inner.spawn("leaf", Boss, () => nothing);
          return nothing;
        };
        for (const name of names) ctx.spawn(name, Boss, parent);
        return nothing;
      });
    }
    await using tab = await opened(url);
    const { page } = tab;
    const openAll = `for (const each of document.querySelectorAll('[aria-expanded="false"] .toggle')) each.click()`;
    await run(page, openAll);
    await until(page, `${LINES}.length > 160`);
    await run(page, openAll);
    await until(page, `document.querySelectorAll('[aria-expanded="true"]').length === 149`);
    expect(await run<string>(page, TEXT_OF("found"))).toContain("No more lines can be open");
    await page.click('[aria-expanded="true"] .toggle');
    await until(page, `${TEXT_OF("found")} === ""`);
    await expectClean(tab);
  }, 30_000);

  test("works by keyboard alone: the focus is seen, moves by the arrows, stays on its line, and is caught nowhere", async () => {
    const { url } = service();
    await using tab = await opened(url);
    const { page } = tab;
    const press = async (...keys: Parameters<typeof page.keyboard.press>[0][]): Promise<void> => {
      for (const key of keys) await page.keyboard.press(key);
    };
    await press("Tab", "Enter"); // The link to the actors.
    await until(page, `${FOCUSED} === "pool"`);
    const outline = await run<string>(page, "getComputedStyle(document.activeElement).outlineStyle");
    expect(outline).toBe("solid");
    await press("ArrowRight");
    await until(page, `${LINES}.includes("  worker-*")`);
    await press("ArrowRight");
    expect(await run<string>(page, FOCUSED)).toBe("worker-*");
    await press("Enter");
    await until(page, `${LINES}.includes("    worker-50")`);
    await press("ArrowDown", "ArrowDown");
    expect(await run<string>(page, FOCUSED)).toBe("worker-2");
    const look = await run<string>(page, TEXT_OF("detail"));
    expect(look).toContain("@(pool/worker-2)");
    await press("ArrowLeft");
    expect(await run<string>(page, FOCUSED)).toBe("worker-*");
    await press("ArrowLeft");
    await until(page, `!${LINES}.includes("    worker-50")`);
    expect(await run<string>(page, FOCUSED)).toBe("worker-*");
    await press("End");
    expect(await run<string>(page, FOCUSED)).toBe("alone");
    await press("Home");
    expect(await run<string>(page, FOCUSED)).toBe("pool");
    // From here on, the tab key leads through all that can be used, and out of the page.
    const reached: string[] = [];
    for (let count = 0; count < 12; count++) {
      await press("Tab");
      const id = await run<string>(
        page,
        "document.activeElement === document.body ? 'out' : document.activeElement.id",
      );
      reached.push(id);
      if (id === "out") break;
    }
    expect(reached.filter((id) => id !== "")).toEqual(["tab-log", "panel-log", "kinds", "only-selected", "out"]);
    await page.focus("#tab-log");
    await press("ArrowRight");
    expect(await run<string>(page, "document.activeElement.id")).toBe("tab-letters");
    expect(await run<boolean>(page, 'document.getElementById("panel-letters").checkVisibility()')).toBe(true);
    const items = await run<Record<string, string | null>[]>(
      page,
      `[...document.querySelectorAll('[role="treeitem"]')].map((item) => ({
        level: item.getAttribute("aria-level"), size: item.getAttribute("aria-setsize"),
        place: item.getAttribute("aria-posinset"), open: item.getAttribute("aria-expanded"), label: item.getAttribute("aria-label"),
      }))`,
    );
    expect(items[0]).toMatchObject({ level: "1", size: "3", place: "1", open: "true" });
    expect(items[1]).toMatchObject({ level: "2", size: "2", place: "1", open: "false" });
    expect(items[1]?.["label"]).toContain("worker-*, 120 actors, 0 waiting");
    expect(await run<number>(page, `document.querySelectorAll('[role="treeitem"][tabindex="0"]').length`)).toBe(1);
    await expectClean(tab);
  }, 60_000);

  test.each(["light", "dark"])(
    "can be read in the %s theme: each text has a contrast of 4.5 at least",
    async (theme) => {
      const { url, fail, tellNobody } = service();
      await using tab = await opened(url);
      const { page } = tab;
      await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }]);
      fail();
      tellNobody("greet");
      await page.click('[data-key="@(pool)"] .toggle');
      await page.click('[data-key="@(pool)"]');
      await until(page, `document.querySelector('[data-key="@(pool/clerk)"] .restarts')?.textContent === "1"`);
      for (const tab of ["log", "letters", "operations"]) {
        await page.click(`#tab-${tab}`);
        await until(page, `${TEXT_OF(`panel-${tab}`)}.length > 80`);
        const { count, faint } = await run<{ count: number; faint: string[] }>(page, FAINT);
        expect(count).toBeGreaterThan(40);
        expect(faint).toEqual([]);
      }
      const ground = await run<string>(page, "getComputedStyle(document.body).backgroundColor");
      expect(Number(/\d+/.exec(ground)?.[0]) > 128).toBe(theme === "light");
      await expectClean(tab);
    },
    30_000,
  );

  test("fits a phone: nothing scrolls sideways, and what is touched is large enough", async () => {
    const { url, fail, tellNobody } = service();
    await using tab = await opened(url, PHONE);
    const { page } = tab;
    fail();
    tellNobody("an-operation-whose-name-is-far-longer-than-any-phone-is-wide".repeat(3));
    await page.tap('[data-key="@(pool)"] .toggle');
    await until(page, `${LINES}.includes("  worker-*")`);
    for (const tab of ["log", "letters", "operations"]) {
      await page.tap(`#tab-${tab}`);
      await until(page, `${TEXT_OF(`panel-${tab}`)}.length > 30`);
      const wide = `[document.documentElement.scrollWidth, ...["tree", "log"].map((id) => document.getElementById(id).scrollWidth)]`;
      expect(Math.max(...(await run<number[]>(page, wide)))).toBeLessThanOrEqual(360);
    }
    const low = `[...document.querySelectorAll('button, select, input[type="search"], [role="treeitem"]')]
      .filter((each) => each.checkVisibility() && each.getBoundingClientRect().height < 43)
      .map((each) => each.id || each.textContent)`;
    expect(await run<string[]>(page, low)).toEqual([]);
    await expectClean(tab);
  }, 30_000);

  test.each([760, 1280])(
    "shows tables whose heads and times are whole, %p pixels wide",
    async (width) => {
      const { url, tellNobody } = service();
      await using tab = await opened(url);
      const { page } = tab;
      await page.setViewport({ width, height: 900 });
      tellNobody("an-operation-whose-name-is-long".repeat(5));
      for (const tab of ["letters", "operations"]) {
        await page.click(`#tab-${tab}`);
        await until(page, `document.querySelectorAll("#panel-${tab} td").length > 0`);
        const broken = `[...document.querySelectorAll("#panel-${tab} th, #panel-${tab} .time")]
        .filter((each) => {
          const range = document.createRange();
          range.selectNodeContents(each);
          return each.scrollWidth > each.clientWidth || new Set([...range.getClientRects()].map(({ top }) => top)).size > 1;
        })
        .map((each) => each.textContent)`;
        expect(await run<string[]>(page, broken)).toEqual([]);
        expect(await run<number>(page, "document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
      }
      await expectClean(tab);
    },
    30_000,
  );

  test("comes back after a pause, also where a proxy names a date", async () => {
    const { url } = service();
    const asked: number[] = [];
    const proxy = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch(request) {
        const { pathname, search } = new URL(request.url);
        if (pathname === "/inspect/live" && asked.push(performance.now()) < 3) {
          return new Response("busy", { status: 503, headers: { "retry-after": "Wed, 21 Oct 2037 07:28:00 GMT" } });
        }
        return fetch(new URL(pathname + search, url), { signal: request.signal });
      },
    });
    stops.push(() => proxy.stop(true));
    await using tab = await browser.open(new URL("inspect", proxy.url));
    await until(tab.page, `${LINES}.length > 0`);
    const [first = 0, second = 0, third = 0] = asked;
    expect(second - first).toBeGreaterThan(200); // It waits for 250 ms at least, and then for 500.
    expect(third - second).toBeGreaterThan(400);
  }, 30_000);

  test("asks for nothing while nobody has seen it", async () => {
    const { url } = service();
    await using tab = await browser.open("about:blank");
    const { page } = tab;
    let live = 0;
    page.on("request", (request) => void (request.url().includes("/live") && live++));
    await page.evaluateOnNewDocument(
      'Object.defineProperty(document, "hidden", { get: () => globalThis.isSeen !== true })',
    );
    await page.goto(String(url));
    await until(page, `${TEXT_OF("status")} === "Paused"`);
    expect(live).toBe(0);
    await run(page, 'globalThis.isSeen = true; document.dispatchEvent(new Event("visibilitychange"))');
    await until(page, `${LINES}.length > 0`);
    expect(live).toBe(1);
    expect(tab.errors).toEqual([]);
  }, 30_000);

  test("asks for a token where it is refused, keeps it for its tab, and shows nothing until then", async () => {
    const { url } = service({ inspector: { every: 100 }, authenticate: bearerTokens({ "t0ken-of-ada": "ada" }) });
    await using tab = await browser.open(url);
    const { page } = tab;
    await until(page, ASKS);
    expect(await run<boolean>(page, 'document.getElementById("main").checkVisibility()')).toBe(false);
    await page.keyboard.type("wrong");
    await page.keyboard.press("Enter");
    await until(page, ASKS);
    await page.keyboard.type("t0ken-of-ada");
    await page.keyboard.press("Enter");
    await until(page, `${LINES}.length > 0`);
    await page.reload();
    await until(page, `${LINES}.length > 0`);
    expect(await run<boolean>(page, 'document.getElementById("sign-in").checkVisibility()')).toBe(false);
    expect(tab.errors.filter((error) => !error.includes("401"))).toEqual([]); // Chromium logs each refusal.
  }, 30_000);

  test("pauses, and goes on; while it is paused, nothing is observed", async () => {
    const { url, system } = service();
    await using tab = await opened(url);
    const { page } = tab;
    await page.click("#pause");
    await until(page, `${TEXT_OF("status")} === "Paused"`);
    spawnWorker(system, "newcomer");
    await page.click("#pause");
    await until(page, `${LINES}.includes("newcomer")`);
    await until(page, `${TEXT_OF("status")} === "Live"`);
    await expectClean(tab);
  }, 30_000);
});
