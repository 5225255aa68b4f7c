import { quote } from "../../index";

/** So many requests in so much time. */
export interface RateWindow {
  /** As it was written, such as `10/s`. */
  readonly name: string;
  readonly quota: number;
  readonly seconds: number;
}

const UNITS: Readonly<Record<string, number>> = { s: 1, min: 60, h: 3_600, d: 86_400 };

/**
 * Reads windows such as `"10/s;100/min"`, `"1000/15min"` or `"5/d"`.
 *
 * @throws TypeError when they are not written so.
 */
export function rateWindowsOf(text: string, of: string): readonly RateWindow[] {
  const sentence = `The rate limit of ${of} is a text such as "10/s;100/min", with s, min, h or d; got ${quote(text)}.`;
  if (typeof text !== "string") throw new TypeError(sentence);
  const windows = text.split(";").map((each): RateWindow => {
    const name = each.trim();
    const [, quota, count = "1", unit = ""] = /^([1-9]\d{0,8})\/([1-9]\d{0,5})?(s|min|h|d)$/.exec(name) ?? [];
    if (quota === undefined) throw new TypeError(sentence);
    return { name, quota: Number(quota), seconds: Number(count) * (UNITS[unit] ?? 1) };
  });
  if (new Set(windows.map(({ seconds }) => seconds)).size < windows.length) {
    throw new TypeError(
      `The rate limit of ${of} has two windows of one length: write one of them; got ${quote(text)}.`,
    );
  }
  return windows;
}
