import { parseHTML } from "linkedom";
import { type PlotOptions, plot } from "./plot";
import type { Theme } from "./theme";

/** A picture as it stands on a page: twice, for a light and for a dark one. */
export interface Picture {
  /** Its files are `NAME.light.svg` and `NAME.dark.svg`. */
  readonly name: string;
  /** What it shows, for readers who do not see it. */
  readonly alt: string;
  /** The question that it answers. */
  readonly question: string;
  readonly draw: (theme: Theme) => string;
}

/** A plot and where it stands in the picture; its width and height are those of its options. */
export interface Panel {
  readonly x: number;
  readonly y: number;
  readonly options: PlotOptions;
}

/** Pixels of a letter on average in a wide font, at the size that all text has: nothing here can measure it. */
const LETTER = 7;
export const FONT_SIZE = 12;
/** Of a picture of one plot: a page of a code host has as much for it. */
export const WIDTH = 860;

/** About how wide a text is. */
export const widthOf = (text: string): number => Math.ceil(text.length * LETTER);

const { document } = parseHTML("<!doctype html><html></html>");

/** One SVG of several plots, the same text for the same plots: without a background, and coordinates to a hundredth. */
export function compose(size: { readonly width: number; readonly height: number }, panels: readonly Panel[]): string {
  const inner = panels.map(({ x, y, options }) => {
    const svg = plot({ document, className: "plot", ...options });
    for (const style of svg.querySelectorAll("style")) style.remove();
    for (const name of ["class", "viewBox"]) svg.removeAttribute(name);
    svg.setAttribute("x", String(x));
    svg.setAttribute("y", String(y));
    svg.setAttribute("overflow", "visible"); // A label may stand out by a letter.
    return svg.toString();
  });
  const { width, height } = size;
  const box = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`;
  const head = `<svg xmlns="http://www.w3.org/2000/svg" ${box} font-family="system-ui, sans-serif" font-size="${FONT_SIZE}">`;
  // The last digits of a logarithm are the machine's own.
  const text = [head, ...inner]
    .join("\n")
    .replace(/-?\d+\.\d{3,}/g, (number) => String(Number(Number(number).toFixed(2))));
  return `${text}\n</svg>\n`;
}
