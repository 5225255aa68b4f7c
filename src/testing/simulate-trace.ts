import { type ActorReport, quote } from "../index";

/** The name of an operation in a trace: short, on one line, and without quotes. */
export const nameOf = (operation: string): string => quote(operation).slice(1, -1);

/** The events of a run, line by line. Nothing is kept if nobody reads it. */
export class Trace {
  readonly lines: string[] = [];
  readonly #tell: ((line: string) => void) | null;
  readonly #step: () => number;

  constructor(tell: ((line: string) => void) | null, step: () => number) {
    this.#tell = tell;
    this.#step = step;
  }

  get isKept(): boolean {
    return this.#tell !== null;
  }

  add(what: string): void {
    if (this.#tell === null) return;
    const line = `${String(this.#step()).padStart(6)}  ${what}`;
    this.lines.push(line);
    this.#tell(line);
  }
}

const LONGEST = 80;
const MOST_ITEMS = 6;

/** A value in one short line, the same in each run: a reference is shown by its address, and random data is not read. */
export function show(value: unknown): string {
  const text = shown(value, 2);
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 1)}…`;
}

function shown(value: unknown, depth: number): string {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value);
    case "function":
      return "ƒ";
    case "object":
      return value === null ? "null" : shownObject(value, depth);
    default:
      return String(value);
  }
}

function shownObject(value: object, depth: number): string {
  if (value instanceof Error) return `${value.name}(${value.message})`;
  if (Array.isArray(value)) {
    return depth === 0 ? "[…]" : `[${listed(value.map((item: unknown) => shown(item, depth - 1)))}]`;
  }
  const isPlain = Object.getPrototypeOf(value) === Object.prototype || Object.getPrototypeOf(value) === null;
  if (!isPlain) return "address" in value ? String(value.address) : (value.constructor?.name ?? "object");
  if (depth === 0) return "{…}";
  return `{${listed(Object.entries(value).map(([key, item]) => `${key}: ${shown(item, depth - 1)}`))}}`;
}

const listed = (items: readonly string[]): string =>
  items.length <= MOST_ITEMS ? items.join(", ") : `${items.slice(0, MOST_ITEMS).join(", ")}, … ${items.length} in all`;

/** One line for each actor that is not simply idle; or for each in the given state. */
export function occupied(reports: readonly ActorReport[], state?: ActorReport["state"]): string[] {
  return flattened(reports)
    .filter((report) => (state === undefined ? report.state !== "idle" || report.queued > 0 : report.state === state))
    .map(({ address, state, queued, current }) => {
      const doing = current.map(({ operation, age }) => `${quote(operation)} for ${Math.round(age)} ms`).join(", ");
      return `${address} is ${state}${doing && `: ${doing}`}${queued > 0 ? `, ${queued} queued` : ""}`;
    });
}

/** Actors, and all below them. */
export const flattened = (reports: readonly ActorReport[]): ActorReport[] =>
  reports.flatMap((report) => [report, ...flattened(report.children)]);
