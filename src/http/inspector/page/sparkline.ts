import { setAttribute } from "./dom";

/** Values in a chart: a minute, at one a second. A chart that has few yet has room for some more. */
const MOST = 60;
const FEW = 20;
const WIDTH = 120;
const HEIGHT = 24;
const SVG = "http://www.w3.org/2000/svg";

/** The last values of one number. */
export class Series {
  readonly values: number[] = [];

  add(value: number): void {
    this.values.push(value);
    if (this.values.length > MOST) this.values.shift();
  }
}

/** A small chart. It is for the eye alone: the number stands beside it. */
export class Sparkline {
  readonly element: SVGSVGElement;
  readonly #line: SVGElement;
  readonly #area: SVGElement;

  constructor() {
    this.element = document.createElementNS(SVG, "svg");
    this.element.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
    this.element.setAttribute("preserveAspectRatio", "none");
    this.element.setAttribute("aria-hidden", "true");
    this.element.classList.add("spark");
    this.#area = document.createElementNS(SVG, "path");
    this.#area.classList.add("area");
    this.#line = document.createElementNS(SVG, "path");
    this.#line.classList.add("line");
    this.element.append(this.#area, this.#line);
  }

  /** Draws from 0 up to the largest value. The newest one is at the right. */
  draw({ values }: Series): void {
    const top = Math.max(...values, 1e-9);
    const step = WIDTH / (Math.max(values.length, FEW) - 1);
    const begin = WIDTH - (values.length - 1) * step;
    const points = values.map((value, index) => {
      const y = HEIGHT - 1.5 - (value / top) * (HEIGHT - 3);
      return `${(begin + index * step).toFixed(1)} ${y.toFixed(1)}`;
    });
    const isEmpty = points.length < 2;
    setAttribute(this.#line, "d", isEmpty ? null : `M${points.join("L")}`);
    setAttribute(
      this.#area,
      "d",
      isEmpty ? null : `M${begin.toFixed(1)} ${HEIGHT}L${points.join("L")}L${WIDTH} ${HEIGHT}Z`,
    );
  }
}
