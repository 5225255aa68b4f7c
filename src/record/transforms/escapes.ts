/** Characters that stand in names and around secrets, by their names in HTML. */
const ENTITIES: Readonly<Record<string, string>> = {
  quot: '"',
  apos: "'",
  amp: "&",
  lt: "<",
  gt: ">",
  nbsp: " ",
  equals: "=",
  colon: ":",
  commat: "@",
  sol: "/",
};
/** A character of HTML, or an escape of JSON or JavaScript, also where its backslash is escaped itself. */
const ESCAPES =
  /&(?:#(\d{2,7})|#[xX]([0-9a-fA-F]{2,6})|(quot|apos|amp|lt|gt|nbsp|equals|colon|commat|sol));|\\{1,8}(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|u\{([0-9a-fA-F]{1,6})\}|(\/))/g;

/** A text with the characters that its escapes stand for. The same text where it has none. */
export function unescaped(text: string): string {
  if (!text.includes("&") && !text.includes("\\")) return text;
  return text.replace(ESCAPES, (whole, decimal, hex, name, four, two, braced, slash) => {
    if (slash !== undefined) return "/";
    if (name !== undefined) return ENTITIES[name] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex ?? four ?? two ?? braced, 16) : Number(decimal);
    return code > 0x10ffff ? whole : String.fromCodePoint(code);
  });
}
