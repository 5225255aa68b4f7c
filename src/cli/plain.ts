/**
 * Characters that a terminal would act on, or show in another place than theirs: control characters, marks that turn the direction of a text, and halves of
 * letters. The joiner within an emoji is left.
 */
const UNSAFE = /(?!\u200d)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}]/gu;

/** A text from a recording as it is shown: on one line, and nothing in it that a terminal acts on. */
export const plain = (text: string): string => text.replace(UNSAFE, escapeOf);

/** JSON of a value, as it is shown. It is the same JSON. @param indent spaces of a level; 0 for one line. */
export const plainJson = (value: unknown, indent = 0): string =>
  (JSON.stringify(value, undefined, indent) ?? "").replace(UNSAFE, (letter) =>
    letter === "\n" ? letter : escapeOf(letter),
  );

/** Cuts a text that is too long, and says so by its end. */
export const clip = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, Math.max(most - 1, 0)).toWellFormed()}…` : text;

function escapeOf(letter: string): string {
  let escaped = "";
  for (let index = 0; index < letter.length; index++) {
    escaped += `\\u${letter.charCodeAt(index).toString(16).padStart(4, "0")}`;
  }
  return escaped;
}
