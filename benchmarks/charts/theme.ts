/** The colours of a chart on a page that is light, or dark. Whatever is text has a contrast of 4.5 : 1 or more there (WCAG 2.2, 1.4.3). */
export interface Theme {
  readonly name: "light" | "dark";
  /** Expected behind the chart, which has no background of its own. */
  readonly page: string;
  readonly text: string;
  /** Text that is read second. */
  readonly muted: string;
  readonly grid: string;
  /** What the chart is about, and what that stands beside. */
  readonly accent: string;
  readonly other: string;
  /** A limit, and what missed it. */
  readonly limit: string;
}

export const light: Theme = {
  ...{ name: "light", page: "#ffffff", text: "#1f2328", muted: "#59636e", grid: "#d1d9e0" },
  ...{ accent: "#0969da", other: "#6e7781", limit: "#cf222e" },
};

export const dark: Theme = {
  ...{ name: "dark", page: "#0d1117", text: "#f0f6fc", muted: "#9198a1", grid: "#3d444d" },
  ...{ accent: "#4493f8", other: "#8b949e", limit: "#f85149" },
};
