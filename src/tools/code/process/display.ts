import { withProcess } from "./globals";

const { getBuiltinModule } = process;
const given = process;

type Format = typeof import("node:util").formatWithOptions;
let format: Format | undefined;

/** Loads the formatter of objects. That takes some milliseconds, so it happens before code needs it. */
export function loadDisplay(): Format {
  format ??= withProcess(given, () => getBuiltinModule("node:util").formatWithOptions);
  return format;
}

const includes = Function.prototype.call.bind(String.prototype.includes) as (text: string, part: string) => boolean;
const hasPlaces = (text: string): boolean => includes(text, "%");

/** The text that a console shows for its arguments. */
export function display(parts: readonly unknown[]): string {
  let text = "";
  for (let index = 0; index < parts.length; index++) {
    const part = parts[index];
    const kind = typeof part;
    const isPlain = kind === "string" || kind === "boolean" || part === undefined || part === null || isCount(part);
    if (!isPlain || (index === 0 && parts.length > 1 && hasPlaces(`${part}`)))
      return loadDisplay()({ colors: false }, ...parts);
    text += index === 0 ? part : ` ${part}`;
  }
  return text;
}

/** True for a number that every formatter writes alike, so not for -0. */
const isCount = (part: unknown): boolean => typeof part === "number" && (part !== 0 || 1 / part > 0);
