/**
 * The defaults, each by its name. `authorization`: header fields of that name, `Bearer` and `Basic`. `cookies`: `Cookie` and
 * `Set-Cookie`. `tokens`: what is named a token, and JSON Web Tokens. `keys`: API keys, secrets, credentials, private keys.
 * `passwords`: what is named a password, and `user:password@host` in an URL.
 */
export const DEFAULTS = ["authorization", "cookies", "tokens", "keys", "passwords"] as const;

/** The name of a default. */
export type DefaultName = (typeof DEFAULTS)[number];

/** The kinds of values that a suspicious name makes secret. A boolean, null and undefined are none: they say too little. */
export const TEXT = 1;
export const NUMBER = 2;
/** An object or a list, as a whole. */
export const CONTAINER = 4;
/** An object or a list only where a text is somewhere in it: `tokens: { input: 12 }` is ordinary, `tokens: ["a"]` is not. */
export const CONTAINER_OF_TEXT = 8;

/** A name after which a secret stands. */
export interface Suspicion {
  readonly group: DefaultName;
  /** The kinds of values that are secret below this name: a sum of TEXT, NUMBER and so on. */
  readonly kinds: number;
}

const ANY = TEXT | NUMBER | CONTAINER;
const SHORT = TEXT | NUMBER;
/** Words that may stand behind the one that tells a secret: `passwordHash`, `token_value`. */
const BEHIND =
  "(?:hash|hashed|confirm|confirmation|confirmed|repeat|repeated|again|new|old|current|salt|value|text|plain|raw|string|data|secret|[0-9]{1,3})?";
/** The words before `token` that make it an ordinary one: places in a list, numbers of a progress, marks of a language model. */
const ORDINARY_TOKEN =
  /(?:progress|page|next|continuation|continue|sync|resume|cancell?ation|stop|start|end|eos|bos|pad|unk|sep|mask|cls|special|separator|unexpected|expected|per|first|last)tokens?$/;
const COUNTED_TOKENS = /tokens$/;

/** The rules, by the name in small letters and without anything but letters and digits. The first one that fits counts. */
const RULES: readonly (readonly [RegExp, DefaultName, number])[] = [
  [/(?:authorization|authheader)$/, "authorization", ANY],
  [/^(?:x|http|proxy|basic)?auth$/, "authorization", TEXT],
  [/cookies?2?$/, "cookies", ANY],
  [new RegExp(`(?:password|passwd|passphrase|passcode|passwort|pwd)s?${BEHIND}$`), "passwords", ANY],
  [/(?:^|user|db|database|smtp|mail|admin|root|ftp|login|proxy|redis|pg|mysql)pass$/, "passwords", TEXT],
  [/^(?:pin|pincode|pw|cvv2?|cvc2?|securitycode)$/, "passwords", SHORT],
  [/(?:secret|credential)s?(?:value|text|string|data|hash|raw|key|[0-9]{1,3})?$/, "keys", ANY],
  [
    /(?:api|access|private|secret|signing|sign|encryption|encrypt|master|ssh|auth|client|service|account|storage|shared|hmac|subscription|app|application|deploy|webhook|license)keys?(?:value|text|data|hash|raw|pem|base64|[0-9]{1,3})?$/,
    "keys",
    ANY,
  ],
  [/^(?:otp|totp|mfacode|otpcode|onetimecode|verificationcode)$/, "tokens", SHORT],
  [/(?:jwt|jsonwebtoken|bearer)s?$/, "tokens", ANY],
  [new RegExp(`token${BEHIND}$`), "tokens", ANY],
  [COUNTED_TOKENS, "tokens", TEXT | CONTAINER_OF_TEXT],
];
/** Names of signatures that stand in the query of an URL and are as good as a key there. */
const SIGNATURES = /^(?:sig|signature|xamzsignature|xgoogsignature|hmac|key|code)$/;

/** The longest name that is looked at whole; of a longer one its end counts. */
const LONGEST = 64;
/** Names that are remembered. */
const MOST = 4_096;
const known = new Map<string, Suspicion | null>();

/** The suspicion of a name, such as that of a key, a header field or a parameter; null for an ordinary name. */
export function suspicionOf(name: string): Suspicion | null {
  const remembered = known.get(name);
  if (remembered !== undefined) return remembered;
  const suspicion = judge(compact(name));
  if (name.length <= LONGEST) {
    if (known.size >= MOST) known.clear();
    known.set(name, suspicion);
  }
  return suspicion;
}

/** The suspicion of a name in the query of an URL, where a signature is a key. */
export function suspicionInQuery(name: string): Suspicion | null {
  return suspicionOf(name) ?? (SIGNATURES.test(compact(name)) ? { group: "keys", kinds: TEXT } : null);
}

function compact(name: string): string {
  return name
    .slice(-LONGEST)
    .normalize("NFKD") // Full-width letters, and those with an accent, are as plain ones.
    .toLowerCase()
    .replace(/[^a-z0-9]/g, "");
}

function judge(name: string): Suspicion | null {
  for (const [pattern, group, kinds] of RULES) {
    if (pattern.test(name)) return group === "tokens" && ORDINARY_TOKEN.test(name) ? null : { group, kinds };
  }
  return null;
}
