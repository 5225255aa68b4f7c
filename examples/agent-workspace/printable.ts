/** Shows what a terminal would obey: control characters, line separators, and those that turn the writing round. */
export const printable = (text: string): string =>
  text.replace(
    /[\p{Cc}\p{Cs}\u200E\u200F\u2028-\u202E\u2066-\u2069]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
