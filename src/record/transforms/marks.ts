/**
 * Texts that stand in each credential, and in each name of one. They are in small letters and found in any. A text without any of
 * them has nothing to redact, which is so for most: only the others are looked at by rules that cost more.
 */
const MARKS: readonly string[] = [
  ...["auth", "cookie", "token", "jwt", "secret", "credential", "passw", "passphrase", "passcode", "pass", "pwd", "pw"],
  ...[
    "key",
    "pin",
    "cvv",
    "cvc",
    "securitycode",
    "otp",
    "mfacode",
    "onetimecode",
    "verificationcode",
    "bearer",
    "sig",
    "hmac",
  ],
  ...["basic ", "eyj", "-----begin", "://", "%", "code=", "\\u00", "\\u{", "\\x", "\\/", "&#", "&sol;"],
  ...[
    "sk-",
    "sk_",
    "rk_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat",
    "glpat-",
    "npm_",
    "hf_",
    "gsk_",
    "xai-",
    "pplx-",
    "tvly-",
    "hvs.",
    "r8_",
    "lin_api_",
    "glsa_",
    "sntrys_",
    "csk-",
    "nvapi-",
    "ntn_",
    "sg.",
    "xox",
    "xapp-",
  ],
  ...["curl", "mysql", "mariadb", "redis-cli", "docker", "podman", "identified by", "identified with"],
  ...["akia", "asia", "aiza", "ya29.", "whsec_", "shpat_", "shpss_", "pypi-", "dop_v1_", "age-secret", "hooks.slack"],
];

/** Letters and digits in a row from which on a run may be base64 or hex of a credential. */
const RUN = 16;
/**
 * Base64 of four times three printable characters, from the beginning of a group on; or hex of eight. Each has so many characters that
 * cannot be that a random text rarely is one: an id is a hit once in some ten thousand. Sixteen digits are a card's, and no hex.
 */
export const ENCODED =
  /(?:[I-Za-f][C-HS-Xi-nyz0-3][ABEFIJMNQRUVYZcdghklopstwx014589][A-Za-z0-9+/_-]){4}|(?:[2-7][0-9a-fA-F]){8}(?<=[a-fA-F][0-9]{0,15}|[0-9]{40})/;

/** The full-width form of a character has its code plus this. It has the class of the character. */
const FULL_WIDTH = 0xfee0;
/** Characters that nobody sees, within a name too: they leave the state as it is. */
const INVISIBLE = [0xad, 0x200b, 0x200c, 0x200d, 0x2060, 0xfeff];
/** One bit beside the class of a character: it is a letter or a digit. */
const ALPHANUMERIC = 64;
const HIT = 0xffff;
/** The class of each character: 0 for those that are in no mark. Letters share the class of their capital. */
const CLASS = new Uint8Array(0x10000);
/** The next state for each state and class, by the automaton of Aho and Corasick (CACM 18/6, 1975): one look for each character. */
const NEXT = build();

/**
 * True when a text may hold a credential, plain or encoded, or the name of one. Linear in its length, whatever stands in it.
 */
export function mayHoldSecret(text: string): boolean {
  const { length } = text;
  let state = 0;
  let run = 0;
  let longest = 0;
  for (let index = 0; index < length; index++) {
    const kind = CLASS[text.charCodeAt(index)] as number;
    state = NEXT[state + (kind & 63)] as number;
    if (state === HIT) return true;
    run = (run + 1) & -(kind >> 6);
    if (run > longest) longest = run;
  }
  return longest >= RUN && ENCODED.test(text);
}

function build(): Uint16Array {
  let classes = 0;
  for (let code = 0x30; code < 0x7b; code++) {
    if (/[0-9A-Za-z]/.test(String.fromCharCode(code))) CLASS[code] = ALPHANUMERIC;
  }
  for (const character of new Set(MARKS.join(""))) {
    classes++;
    for (const form of [character, character.toUpperCase()]) {
      const code = form.charCodeAt(0);
      CLASS[code] = classes | ((CLASS[code] as number) & ALPHANUMERIC);
    }
  }
  for (let code = 0x21; code < 0x7f; code++) CLASS[code + FULL_WIDTH] = (CLASS[code] as number) & 63;
  const skipped = ++classes;
  for (const code of INVISIBLE) CLASS[code] = skipped;
  const states: number[][] = [[]];
  const ends = new Set<number>();
  for (const mark of MARKS) {
    let state = 0;
    for (const character of mark) {
      const kind = (CLASS[character.charCodeAt(0)] as number) & 63;
      const row = states[state] as number[];
      state = row[kind] ??= states.push([]) - 1;
    }
    ends.add(state);
  }
  const width = 64;
  const fails: number[] = [0];
  const table = new Uint16Array(states.length * width);
  const due: number[] = [0];
  for (const state of due) {
    const fail = fails[state] as number;
    if (ends.has(fail)) ends.add(state);
    for (let kind = 0; kind < width; kind++) {
      if (kind === skipped) {
        table[state * width + kind] = state * width;
        continue;
      }
      const child = states[state]?.[kind];
      const other = state === 0 ? 0 : (table[fail * width + kind] as number);
      if (child === undefined) {
        table[state * width + kind] = other;
        continue;
      }
      fails[child] = other === HIT ? 0 : other / width;
      if (other === HIT) ends.add(child);
      due.push(child);
      table[state * width + kind] = child * width;
    }
  }
  for (let index = 0; index < table.length; index++) {
    if (ends.has((table[index] as number) / width)) table[index] = HIT;
  }
  return table;
}
