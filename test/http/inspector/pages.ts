import type { Page } from "puppeteer-core";

/** Runs code in the page. It is text, since these files are not compiled for a browser. */
export const run = <Value>(page: Page, code: string): Promise<Value> => page.evaluate(code) as Promise<Value>; // The test says what the code gives.

/** Waits until code in the page gives something true. */
export const until = async (page: Page, code: string): Promise<void> => {
  await page.waitForFunction(code, { timeout: 10_000, polling: 20 });
};

/** The names of the lines of the tree, with their levels. */
export const LINES = `[...document.querySelectorAll('[role="treeitem"]')].map((item) =>
  "  ".repeat(item.getAttribute("aria-level") - 1) + item.querySelector(".text").textContent)`;

/** The line that has the focus. */
export const FOCUSED = `document.activeElement.closest('[role="treeitem"]')?.querySelector(".text").textContent`;

/**
 * Texts whose contrast with what is behind them is below 4.5 (WCAG 2.2, 1.4.3): each with its contrast. The ground is what the nearest
 * elements with a colour make together.
 */
export const FAINT = `(() => {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 1;
  const context = canvas.getContext("2d", { willReadFrequently: true });
  const parse = (colour) => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = context.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = ([r, g, b, a], [x, y, z]) => [r * a + x * (1 - a), g * a + y * (1 - a), b * a + z * (1 - a), 1];
  const groundOf = (element) => {
    const colours = [];
    for (let each = element; each !== null; each = each.parentElement) colours.push(parse(getComputedStyle(each).backgroundColor));
    return colours.reverse().reduce((ground, colour) => over(colour, ground), [255, 255, 255, 1]);
  };
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((part) => part / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const contrast = (a, b) => {
    const [high, low] = [light(a), light(b)].sort((x, y) => y - x);
    return (high + 0.05) / (low + 0.05);
  };
  const faint = [];
  let count = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const element = node.parentElement;
    if (node.textContent.trim() === "" || element === null || !element.checkVisibility()) continue;
    if (element.closest("option, script, noscript, .unseen") !== null) continue;
    count++;
    const ground = groundOf(element);
    const ratio = contrast(over(parse(getComputedStyle(element).color), ground), ground);
    if (ratio < 4.5) faint.push(element.className + " " + node.textContent.trim() + ": " + ratio.toFixed(2));
  }
  return { count, faint };
})()`;
