/** The colours of a chart on a page that is light, or dark. Whatever is text has a contrast of 4.5 : 1 or more there (WCAG 2.2, 1.4.3). */
export interface Theme {
  readonly name: "light" | "dark";
  /** What the page is expected to have behind the chart, which has no background of its own. */
  readonly page: string;
  readonly text: string;
  /** Text that is read second. */
  readonly muted: string;
  readonly grid: string;
  /** What the chart is about. */
  readonly accent: string;
  /** What it stands beside. */
  readonly other: string;
  /** A limit, and what missed it. */
  readonly limit: string;
  /** Lines that stand beside each other, each named in its own colour. */
  readonly lines: readonly string[];
}

export const light: Theme = {
  name: "light",
  page: "#ffffff",
  text: "#1f2328",
  muted: "#59636e",
  grid: "#d1d9e0",
  accent: "#0969da",
  other: "#6e7781",
  limit: "#cf222e",
  lines: ["#0969da", "#bc4c00", "#1a7f37", "#8250df", "#bf3989", "#1b7c83", "#9a6700", "#57606a"],
};

export const dark: Theme = {
  name: "dark",
  page: "#0d1117",
  text: "#f0f6fc",
  muted: "#9198a1",
  grid: "#3d444d",
  accent: "#4493f8",
  other: "#8b949e",
  limit: "#f85149",
  lines: ["#4493f8", "#f0883e", "#3fb950", "#ab7df8", "#f778ba", "#39c5cf", "#d29922", "#9198a1"],
};
