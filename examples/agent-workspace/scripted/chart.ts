import type { GroupSummary } from "./summary";

export interface Chart {
  readonly title: string;
  /** What the axis shows, with its unit. */
  readonly axis: string;
  readonly groups: readonly (GroupSummary & { readonly numbers: readonly number[] })[];
}

/**
 * Draws a chart as SVG: for each group a line of dots, one for each row, with the middle half of them in a box and a mark
 * at their mean; of more than a thousand rows, the boxes alone. It goes into the sandbox as its own source text, and so
 * uses nothing from around it.
 */
export function chartOf({ title, axis, groups }: Chart): string {
  const width = 760;
  const line = groups.length > 8 ? 34 : 60;
  const longest = Math.max(...groups.map(({ name }) => Math.min(name.length, 24)));
  const [top, left, right] = [84, 40 + longest * 7.5, width - 88];
  const bottom = top + groups.length * line;
  const height = bottom + 62;
  const hasDots = groups.reduce((sum, { count }) => sum + count, 0) <= 1000;

  const escapes: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  const escaped = (text: string): string =>
    // Control characters cannot be in an XML document.
    text.replace(/[&<>"]/g, (letter) => escapes[letter] ?? "").replace(/[^\P{Cc}\t\n]/gu, "\uFFFD");
  const tag = (name: string, attributes: Record<string, string | number>, content = ""): string => {
    const written = Object.entries(attributes).map(([key, value]) => {
      const text = typeof value === "number" ? String(Math.round(value * 100) / 100) : escaped(value);
      return ` ${key}="${text}"`;
    });
    return `<${name}${written.join("")}${content === "" ? "/>" : `>${content}</${name}>`}`;
  };
  const text = (x: number, y: number, kind: string, content: string): string =>
    tag("text", { x, y, class: kind }, escaped(content));

  // A step of 1, 2 or 5 times a power of ten, so that there are five to ten ticks.
  const lowest = Math.min(...groups.map((group) => group.lowest));
  const highest = Math.max(...groups.map((group) => group.highest));
  const range = highest - lowest || Math.abs(highest) || 1;
  const rough = range / 6;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10) * power;
  const from = Math.floor(lowest / step);
  const to = Math.max(Math.ceil(highest / step), from + 1);
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const finer = Math.max(0, 2 - Math.floor(Math.log10(range)));
  const format = (value: number, digits: number): string => {
    const [whole = "", part] = value.toFixed(Math.min(digits, 20)).split(".");
    const grouped = whole.replace(/\B(?=(?:\d{3})+$)/g, ",");
    return part === undefined ? grouped : `${grouped}.${part}`;
  };
  const x = (value: number): number => left + ((value / step - from) / (to - from)) * (right - left);

  const parts: string[] = [
    text(24, 34, "title", title),
    text(
      24,
      56,
      "note",
      `${hasDots ? "Dot: one row. " : ""}Box: the middle half of the rows. Thick line: the mean of all.`,
    ),
    text(right + 14, top - 10, "note", "mean"),
  ];
  for (let tick = from; tick <= to; tick++) {
    const at = x(tick * step);
    parts.push(tag("line", { x1: at, y1: top, x2: at, y2: bottom, class: "grid" }));
    parts.push(text(at, bottom + 20, "tick", format(tick * step, decimals)));
  }
  parts.push(tag("line", { x1: left, y1: bottom, x2: right, y2: bottom, class: "axis" }));
  parts.push(text((left + right) / 2, bottom + 46, "label", axis));

  groups.forEach(({ name, numbers, ...figures }, index) => {
    const middle = top + (index + 0.5) * line;
    const half = line * 0.3;
    const shown = name.length > 24 ? `${name.slice(0, 23).toWellFormed()}…` : name;
    const drawn = [
      text(left - 12, middle + 4, "name", shown),
      tag("line", { x1: x(figures.lowest), y1: middle, x2: x(figures.highest), y2: middle, class: "range" }),
    ];
    if (hasDots) {
      // Off the middle by the golden ratio, which spreads equal numbers evenly.
      const dots = numbers.map((number, dot) => ({
        cx: x(number),
        cy: middle + (((dot * 0.618) % 1) - 0.5) * line * 0.72,
      }));
      drawn.push(...dots.map((dot) => tag("circle", { ...dot, r: 2.5, class: "row" })));
    }
    const [boxLeft, boxRight] = [x(figures.lowerQuartile), x(figures.upperQuartile)];
    drawn.push(
      tag("rect", { x: boxLeft, y: middle - half, width: boxRight - boxLeft, height: 2 * half, rx: 3, class: "box" }),
      tag("line", { x1: x(figures.mean), y1: middle - half, x2: x(figures.mean), y2: middle + half, class: "mean" }),
      text(right + 14, middle + 4, "value", format(figures.mean, finer)),
    );
    const about = tag("title", {}, escaped(`${name}: ${figures.count} rows, mean ${format(figures.mean, finer)}`));
    parts.push(tag("g", { class: "group" }, about + drawn.join("")));
  });

  const inks = (ink: string, soft: string, grid: string, accent: string, ground: string): string => `
    .ground { fill: ${ground} } .title, .name, .value { fill: ${ink} } .note, .tick, .label { fill: ${soft} }
    .grid { stroke: ${grid} } .axis, .range { stroke: ${soft} } .mean { stroke: ${ink} }
    .row { fill: ${accent} } .box { fill: ${accent}; stroke: ${accent} }`;
  const style = `
    text { font: 13px system-ui, "Segoe UI", "DejaVu Sans", sans-serif }
    .title { font-size: 17px; font-weight: 600 } .note, .tick { font-size: 12px }
    .tick, .label { text-anchor: middle } .name { text-anchor: end } .value { font-variant-numeric: tabular-nums }
    .row { fill-opacity: 0.45 } .box { fill-opacity: 0.16; stroke-width: 1.5 } .mean { stroke-width: 3 }
    ${inks("#1b1b1a", "#595852", "#e2e1db", "#2a6fc9", "#fdfdfc")}
    @media (prefers-color-scheme: dark) {
      ${inks("#f4f4f1", "#b9b8b0", "#33332f", "#6aa5f0", "#191918")}
    }
  `;
  const about = `${axis} of ${groups.map(({ name }) => name).join(", ")}`;
  return tag(
    "svg",
    {
      xmlns: "http://www.w3.org/2000/svg",
      viewBox: `0 0 ${width} ${height}`,
      width,
      height,
      role: "img",
      "aria-labelledby": "chart-title chart-about",
    },
    [
      `<title id="chart-title">${escaped(title)}</title>`,
      `<desc id="chart-about">${escaped(about)}</desc>`,
      `<style>${style}</style>`,
      tag("rect", { width, height, class: "ground" }),
      ...parts,
    ].join("\n"),
  );
}
