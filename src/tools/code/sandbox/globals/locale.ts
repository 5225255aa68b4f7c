/** Methods that depend on a language. They throw unless their answer is known to be right. */
export interface LocaleMethods {
  compare(text: unknown, other: unknown, locales: unknown, options: unknown): number;
  number(value: number | bigint, locales: unknown, options: unknown): string;
  refuse(method: string): never;
  check(method: string, locales: unknown): void;
}

/**
 * QuickJS has no `Intl`: its `localeCompare` compares code units, its `toLocaleString` groups no digits, and both silently
 * ignore a locale. These methods answer as the other tiers do for en-US, or throw. ASCII texts are compared by the order
 * of Unicode's collation (CLDR root); numbers are grouped, and rounded to thousandths.
 *
 * It is carried into the sandbox as its own source text, at the first use of one of them.
 */
export function localeMethods(): LocaleMethods {
  /** ASCII characters in their order, without the letters. A character that is neither here nor a letter is skipped. */
  const ORDER = "\t\n\v\f\r _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789";
  const isEnglish = (locales: unknown): boolean =>
    locales === undefined ||
    locales === "en" ||
    locales === "en-US" ||
    (Array.isArray(locales) && locales.length === 0);
  const fault = (method: string, instead: string): Error =>
    new Error(
      `${method} needs Intl, and the tier "sandbox" has no Intl. ${instead}, or run the code as "process" where that is allowed.`,
    );
  const INSTEAD = "Write it without a locale: compare with < and >, format with toFixed, padStart or toISOString";

  const LAST = 126;
  /** By character code: twice the character's place, plus one for upper case; -1 for a skipped one. Made once, as sorting is frequent. */
  const weights: number[] = [];
  for (let code = 0; code <= LAST; code++) {
    const lower = code >= 65 && code <= 90 ? code + 32 : code;
    const place = lower >= 97 && lower <= 122 ? 1_000 + lower : ORDER.indexOf(String.fromCharCode(code));
    weights.push(place < 0 ? -1 : 2 * place + (lower === code ? 0 : 1));
  }
  const isKnown = (text: string): boolean => {
    for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > LAST) return false;
    return true;
  };

  const compare: LocaleMethods["compare"] = (text, other, locales, options) => {
    if (!isEnglish(locales) || options !== undefined) throw fault("localeCompare with a locale or options", INSTEAD);
    const a = `${text}`;
    const b = `${other}`;
    if (!isKnown(a) || !isKnown(b)) throw fault("localeCompare of characters beyond ASCII", INSTEAD);
    // Characters decide first, whatever their case. If all are the same, lower case comes first.
    let byCase = 0;
    for (let [at, its] = [0, 0]; ; at++, its++) {
      while (weights[a.charCodeAt(at)] === -1) at++;
      while (weights[b.charCodeAt(its)] === -1) its++;
      if (at >= a.length) return its >= b.length ? byCase : -1;
      if (its >= b.length) return 1;
      const [one, another] = [weights[a.charCodeAt(at)] ?? 0, weights[b.charCodeAt(its)] ?? 0];
      if (one === another) continue;
      if (one >> 1 !== another >> 1) return one < another ? -1 : 1;
      byCase ||= one < another ? -1 : 1;
    }
  };

  const grouped = (digits: string): string => {
    let made = digits.slice(0, digits.length % 3);
    for (let at = made.length; at < digits.length; at += 3)
      made += `${made === "" ? "" : ","}${digits.slice(at, at + 3)}`;
    return made;
  };

  const number: LocaleMethods["number"] = (value, locales, options) => {
    if (!isEnglish(locales) || options !== undefined) throw fault("toLocaleString with a locale or options", INSTEAD);
    if (typeof value === "number" && !Number.isFinite(value))
      return Number.isNaN(value) ? "NaN" : value < 0 ? "-∞" : "∞";
    const isNegative = value < 0 || Object.is(value, -0);
    const sign = isNegative ? "-" : "";
    const [plain = "", exponent] = `${value}`.replace(/^-/, "").split("e");
    if (exponent?.startsWith("-")) return `${sign}0`; // Less than a millionth.
    let [whole = "", rest = ""] = plain.split(".");
    if (exponent !== undefined) [whole, rest] = [(whole + rest).padEnd(Number(exponent) + 1, "0"), ""];
    if (rest.length > 3) {
      const isUp = rest[3] !== undefined && rest[3] >= "5";
      const thousandths = BigInt(whole + rest.slice(0, 3)) + (isUp ? 1n : 0n);
      const digits = `${thousandths}`.padStart(4, "0");
      [whole, rest] = [digits.slice(0, -3), digits.slice(-3)];
    }
    const fraction = rest.replace(/0+$/, "");
    return `${sign}${grouped(whole)}${fraction === "" ? "" : `.${fraction}`}`;
  };

  return {
    compare,
    number,
    refuse: (method) => {
      throw fault(method, INSTEAD);
    },
    check: (method, locales) => {
      if (!isEnglish(locales)) throw fault(`${method} with a locale`, "Leave the locale out");
    },
  };
}
