import { redactCommands } from "./commands";
import { redactForms } from "./forms";
import type { DefaultName } from "./names";
import { isRedacted } from "./redacted";
import { redactSpans, type Span } from "./spans";

/** A text that looks like a credential by itself, whatever stands around it. */
interface Credential {
  readonly group: DefaultName;
  /** Its part before the secret (kept) as the first group, and the secret as the second. */
  readonly pattern: RegExp;
  /** Looks again at what the pattern found. */
  readonly isSecret?: (secret: string) => boolean;
}

/** Each takes time in proportion to the text: an open end stands last, or is bounded, so that no part is read again and again. */
const CREDENTIALS: readonly Credential[] = [
  {
    group: "passwords", // https://user:password@host; a password may hold an @ itself.
    pattern: /(:\/\/[^\s/?#:@"'<>\\]{0,256}:)([^\s/?#"'<>]+)(?=@)/g,
  },
  { group: "passwords", pattern: /(:\/\/)([^\s/?#:@"'<>\\]{20,256})(?=@)/g, isSecret: isRandom },
  {
    group: "authorization",
    pattern: /(\b(?:bearer|dpop)(?:[ \t+]|%20)+)([^\s"'`,;<>&()[\]{}\\]{6,})/gi,
    isSecret: (secret) => secret.length >= 24 || !/^(?:[A-Za-z]?[a-z]+[.:!?]?)$/.test(secret),
  },
  { group: "authorization", pattern: /(\btoken[ \t]+)([A-Za-z0-9_.-]{20,})/gi, isSecret: isRandom },
  {
    group: "authorization",
    pattern: /(\bbasic(?:[ \t+]|%20)+)([A-Za-z0-9+/_-]{4,}(?:=|%3d){0,2})/gi,
    isSecret: (secret) => /^[^\n:]*:/.test(Buffer.from(secret, "base64").toString("latin1")) && isBase64OfText(secret),
  },
  {
    group: "tokens",
    pattern: /((?<![A-Za-z0-9_-]))(eyJ[\w-]{8,}(?:\.[\w-]*)*)/g,
    isSecret: (secret) => /\.[\w-]{2}/.test(secret),
  },
  {
    group: "keys",
    pattern: /((?<![A-Za-z0-9]))((?:sk|rk|csk|xai|pplx|tvly)[-_][\w-]{14,})/g,
    isSecret: (secret) => isRandom(secret.slice(3)),
  },
  {
    group: "keys",
    pattern:
      /((?<![A-Za-z0-9]))((?:gh[pousr]_|github_pat_|glpat-|npm_|hf_|gsk_|hvs\.|r8_|lin_api_|glsa_|sntrys_|nvapi-|ntn_|whsec_|shpat_|shpss_|pypi-|dop_v1_|xapp-|xox[a-z]-|AIza|ya29\.|AGE-SECRET-KEY-)[\w.-]{10,})/g,
  },
  { group: "keys", pattern: /((?<![A-Za-z0-9]))((?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{12,})/g },
  { group: "keys", pattern: /((?<![A-Za-z0-9]))(SG\.[\w-]{10,80}\.[\w-]{10,})/g },
  {
    group: "passwords", // A line of ~/.netrc, which may be cut into several.
    pattern:
      /(\b(?:machine\s{1,64}\S{1,256}|default(?=\s{1,64}login\s))\s{1,64}(?:login\s{1,64}\S{1,256}\s{1,64})?(?:account\s{1,64}\S{1,256}\s{1,64})?password\s{1,64})(\S+)/g,
  },
  {
    group: "passwords", // CREATE USER … IDENTIFIED BY 'password'
    pattern: /(\b(?:identified\s{1,9}(?:with\s{1,9}\S{1,64}\s{1,9})?(?:by|as)|password)\s{1,9}')((?:[^'\\]|\\.|'')+)/gi,
  },
  { group: "keys", pattern: /(hooks\.slack\.com\/services\/)([\w/-]{10,})/g },
];

/** The beginnings of all of them. To look for these alone takes a tenth of the time, and most texts have none. */
const BEGINNINGS =
  /:\/\/|bearer|dpop|token|basic|eyJ|[sr]k[-_]|gh[pousr]_|github_pat|glpat|npm_|hf_|gsk_|hvs\.|r8_|lin_api|glsa_|sntrys_|nvapi-|ntn_|xai[-_]|pplx[-_]|tvly[-_]|whsec|shp[as]|pypi-|dop_v1|xapp-|xox|AIza|ya29|AGE-|A[KSBC][IC]A|SG\.|hooks\.slack|-----BEGIN|machine|default|identified|password\s+'|content-disposition|curl|sshpass|mysql|mariadb|redis-cli|docker|podman/i;

/** True for a text that nobody writes by hand: a digit, or capitals among small letters. */
function isRandom(text: string): boolean {
  return /[0-9]/.test(text) || /[a-z][A-Z]|[A-Z]{2}[a-z]/.test(text);
}

function isBase64OfText(text: string): boolean {
  return /^[\x20-\x7e\x80-\xff]+$/.test(Buffer.from(text, "base64").toString("latin1"));
}

/** Redacts what looks like a credential by itself. */
export function redactCredentials(
  text: string,
  isOn: (group: DefaultName) => boolean,
  redacted: (secret: string) => string,
): string {
  if (!BEGINNINGS.test(text)) return text;
  let result = isOn("keys") ? redactPrivateKeys(text, redacted) : text;
  result = redactForms(result, isOn, redacted);
  if (isOn("passwords")) result = redactCommands(result, redacted);
  for (const { group, pattern, isSecret } of CREDENTIALS) {
    if (!isOn(group)) continue;
    result = result.replace(pattern, (whole, before: string, secret: string) =>
      isRedacted(secret) || (isSecret !== undefined && !isSecret(secret)) ? whole : before + redacted(secret),
    );
  }
  return result;
}

const BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----/g;
const END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----/g;

/** Redacts private keys in PEM, with their frames. One without an end goes on to the end of the text. */
function redactPrivateKeys(text: string, redacted: (secret: string) => string): string {
  if (!text.includes("-----BEGIN ")) return text;
  const keyAt = ({ index }: RegExpExecArray): Span => {
    END.lastIndex = index;
    return { start: index, end: END.exec(text) === null ? text.length : END.lastIndex };
  };
  return redactSpans(text, BEGIN, keyAt, redacted);
}

/** True for a text in which a private key begins and does not end. */
export function opensPrivateKey(text: string): boolean {
  if (!text.includes("-----BEGIN ")) return false;
  const begin = [...text.matchAll(BEGIN)].at(-1)?.index;
  return begin !== undefined && !closesPrivateKey(text.slice(begin));
}

/** True for a text in which a private key ends. */
export const closesPrivateKey = (text: string): boolean => text.search(END) >= 0;
