/** Most names: text without digits, and a number behind what is no letter. */
const COUNTED = /^(\D*[^A-Za-z0-9])\d+$/;
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;
const WORD = /[A-Za-z0-9]+/g;
/** A word and a number, such as `worker17`, which is no id however long it is. */
const NUMBERED = /^[A-Za-z]+\d+$/;
const HEXADECIMAL = /^[0-9a-f]{6,}$/i;
/** Letters of a word with digits from which it counts as an id, such as a nanoid's. */
const LONG = 12;
/** Most characters of a name that are looked at. */
const MOST = 200;

/**
 * The pattern that the names of siblings share when they differ by a number or an id: `worker-17` gives `worker-*`. A name without digits
 * is its own pattern.
 */
export function patternOf(name: string): string {
  const part = name.length > MOST ? name.slice(0, MOST) : name;
  const counted = COUNTED.exec(part)?.[1];
  if (counted !== undefined) return `${counted}*`;
  if (!/\d/.test(part)) return part;
  return part
    .replace(UUID, "*")
    .replace(WORD, (word) => {
      if (!/\d/.test(word)) return word;
      const isId = (word.length >= LONG && !NUMBERED.test(word)) || HEXADECIMAL.test(word);
      return isId ? "*" : word.replace(/\d+/g, "*");
    })
    .replace(/\*(?:[^A-Za-z0-9*]?\*)+/g, "*");
}
