import { afterAll, beforeAll } from "bun:test";
import { existsSync } from "node:fs";
import { mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, launch, type Page } from "puppeteer-core";
import { devDependencies } from "../../package.json";

/** True where there is a Chromium for this machine. Tests that need one are left out elsewhere. */
export const hasBrowser: boolean = process.platform === "linux" && process.arch === "x64";

/** A page of a browser, with cookies and storage of its own. */
export interface Tab extends AsyncDisposable {
  readonly page: Page;
  /** The errors that the page threw, and those that it wrote on its console. */
  readonly errors: readonly string[];
}

/** The browser of one file of tests. */
export interface TestBrowser {
  /** Opens a page in a window of its own. */
  open(url: string | URL): Promise<Tab>;
}

/**
 * Gives the tests of a file one headless Chromium, which ends after the last of them. Call it at the top of the file.
 *
 * @example
 * const browser = testBrowser();
 * test.skipIf(!hasBrowser)("shows its title", async () => {
 *   await using tab = await browser.open(url);
 *   await tab.page.waitForSelector("h1");
 *   expect(tab.errors).toEqual([]);
 * });
 */
export function testBrowser(): TestBrowser {
  let browser: Browser | null = null;
  beforeAll(async () => {
    if (hasBrowser) browser = await startBrowser();
  }, 120_000); // It may have to be unpacked first.
  afterAll(() => browser?.close());
  return {
    async open(url) {
      if (browser === null) throw new Error("There is no Chromium for this machine: skip the test unless hasBrowser.");
      return openTab(browser, String(url));
    },
  };
}

async function openTab(browser: Browser, url: string): Promise<Tab> {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  const errors: string[] = [];
  page.on("pageerror", (error) => void errors.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") errors.push(message.text());
  });
  await page.goto(url, { waitUntil: "load" });
  return { page, errors, [Symbol.asyncDispose]: () => context.close() };
}

/** Starts Chromium as it is for its users, but for the sandbox, which root cannot have. */
async function startBrowser(): Promise<Browser> {
  const folder = await chromiumFolder();
  const fonts = join(folder, "fonts.conf");
  if (!existsSync(fonts)) await Bun.write(fonts, fontsIn(folder));
  return launch({
    executablePath: join(folder, "chromium"),
    headless: "shell",
    pipe: true, // It ends with this process, however that ends.
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--font-render-hinting=none"],
    env: { ...process.env, FONTCONFIG_FILE: fonts },
  });
}

/** Leads to the fonts of the package. Its own file has other folders: without any font, each field of a form ends the browser. */
const fontsIn = (folder: string): string => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>${folder}/fonts/fonts</dir><cachedir>${folder}/fonts-cache</cachedir></fontconfig>
`;

/** The folder of the unpacked browser. The first one who needs it unpacks it, which takes some seconds. */
async function chromiumFolder(): Promise<string> {
  const folder = join(tmpdir(), `envoi-chromium-${devDependencies["@sparticuz/chromium"]}`);
  if (existsSync(folder)) return folder;
  const unpacked = await mkdtemp(`${folder}-`);
  // In a process of its own: the package unpacks into the folder that the environment names.
  const unpacking = Bun.spawn(
    [process.execPath, "-e", 'await (await import("@sparticuz/chromium")).default.executablePath()'],
    { cwd: import.meta.dir, env: { ...process.env, TMPDIR: unpacked }, stdout: "inherit", stderr: "inherit" },
  );
  if ((await unpacking.exited) !== 0) throw new Error("Chromium could not be unpacked: stderr says why.");
  try {
    await rename(unpacked, folder); // Whole or not at all: other tests may look for it at the same time.
  } catch (thrown) {
    if (!existsSync(folder)) throw thrown;
    await rm(unpacked, { recursive: true }); // Somebody else was quicker.
  }
  return folder;
}
