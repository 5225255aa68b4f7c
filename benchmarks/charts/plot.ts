// Plot draws half a pixel aside in what it takes for a test, which is any process that has a global `it`, unless a window tells it
// of a fine screen. What it draws is to be the same everywhere.
Object.assign(globalThis, { window: { devicePixelRatio: 2 } });
const library = await import("@observablehq/plot");
Reflect.deleteProperty(globalThis, "window");

export type { Markish, PlotOptions } from "@observablehq/plot";
export const { axisX, axisY, dot, gridX, line, lineY, link, plot, ruleX, ruleY, text, tickX } = library;
