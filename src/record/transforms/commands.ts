import { closingQuote } from "./named-values";
import { isRedacted } from "./redacted";
import type { Span } from "./spans";

/** A command that takes a password as the value of a short option. */
interface Command {
  readonly name: RegExp;
  /** The option in a command line, up to its value. */
  readonly option: RegExp;
  /** The option as an item of a list, before that of its value; and with its value as one item. */
  readonly item: RegExp;
  readonly whole: RegExp;
  /** True where the value is `user:password`. */
  readonly isPair: boolean;
}

/** Commands of which one subcommand takes a password: -p is a port elsewhere. */
const CONTAINERS: Command = {
  name: /^(?:docker|podman)$/,
  option: /(?!)/g,
  item: /^(?!)/,
  whole: /^(?!)/,
  isPair: false,
};
const COMMANDS: readonly Command[] = [
  CONTAINERS,
  {
    name: /^curl$/,
    option: /(?<=[\s"'`,])(?:-[a-zB-Z0-9#]{0,8}[uU]|--(?:proxy-)?user)(?=[\s"'`=,\w])/g,
    item: /^(?:-[a-zB-Z0-9#]{0,8}[uU]|--(?:proxy-)?user)$/,
    whole: /^(?:-[uU]|--(?:proxy-)?user=)[^:]*:./,
    isPair: true,
  },
  { name: /^sshpass$/, option: /(?<=[\s"'`,])-p/g, item: /^-p$/, whole: /^-p./, isPair: false },
  {
    // Without a value beside it, this option asks for the password, and the next word is a database.
    name: /^(?:mysql|mariadb)/,
    option: /(?<=([\s"'`,]))-p(?!\1)(?=[^\s,])/g,
    item: /^(?!)/,
    whole: /^-p./,
    isPair: false,
  },
  { name: /^redis-cli$/, option: /(?<=[\s"'`,])-a(?=[\s"',])/g, item: /^-a$/, whole: /^(?!)/, isPair: false },
  { name: /login$/, option: /(?<=[\s"'`,])-p(?=[\s"'`,=$\w])/g, item: /^-p$/, whole: /^-p./, isPair: false },
];
const NAMES =
  /(?<![\w.-])(curl|sshpass|(?:mysql|mariadb)(?:-?[a-z]{1,16}){0,2}|redis-cli|(?:docker|podman)(?:\.exe)?[\s"'`,[\\]{1,8}(?:-{1,2}[\w.-]{1,40}(?:=[^\s"'`,\\]{1,64})?[\s"'`,\\]{1,8}){0,3}login)(?=(?:\.exe)?[\s"'`,\\])/g;
const LONGEST_ITEM = 256;
const ITEM = /^(?:.*[\\/])?(curl|sshpass|docker|podman|mysql[a-z]{0,16}|mariadb[a-z-]{0,16}|redis-cli)(?:\.exe)?$/;
/** Between an option and its value: in a shell, or in a list of texts. */
const BETWEEN = /(?:\\{0,4}["'`],\s{0,64}|[\s=]|\\\r?\n){0,64}(\\{0,4}["'`]|)/y;
const WORD = /[^\s"'`<>]*/y;

const commandOf = (name: string): Command | undefined => COMMANDS.find((each) => each.name.test(name));

/** Redacts the passwords that command lines have behind a short option, such as `curl -u user:password`. */
export function redactCommands(text: string, redacted: (secret: string) => string): string {
  let result = "";
  let done = 0;
  NAMES.lastIndex = 0;
  for (let found = NAMES.exec(text); found !== null; found = NAMES.exec(text)) {
    const command = commandOf(found[1] as string) as Command; // Each name of the pattern has one.
    const from = NAMES.lastIndex;
    const line = text.slice(from, endOfLine(text, from));
    for (const option of line.matchAll(command.option)) {
      const at = from + option.index + option[0].length;
      if (at < done) continue; // It stands in the value before.
      const value = secretBehind(text, at, command.isPair);
      const secret = text.slice(value.start, value.end);
      if (secret === "" || isRedacted(secret)) continue;
      result += text.slice(done, value.start) + redacted(secret);
      done = value.end;
    }
    NAMES.lastIndex = Math.max(from + line.length, done);
  }
  return result + text.slice(done);
}

/** The end of a command line. It goes on where its end is escaped. */
function endOfLine(text: string, from: number): number {
  let end = text.indexOf("\n", from);
  while (end > 0 && /\\\r?$/.test(text.slice(end - 2, end))) end = text.indexOf("\n", end + 1);
  return end < 0 ? text.length : end;
}

/** The second half of a pair that is quoted by itself: behind `user:`, and behind the word of `"user"`. */
const QUOTED_HALF = /(\\{0,4}["'`])/y;
const NEXT_HALF = /\\{0,4}["'`]:(\\{0,4}["'`]|)/y;

/** The password that is the value of an option; of a pair, what stands behind its colon. It is empty where there is none. */
function secretBehind(text: string, from: number, isPair: boolean): Span {
  const { start, end } = wordBehind(text, from);
  if (!isPair) return { start, end };
  const colon = text.slice(start, end).indexOf(":");
  if (colon >= 0 && start + colon + 1 < end) return { start: start + colon + 1, end };
  const half = colon < 0 ? NEXT_HALF : QUOTED_HALF;
  half.lastIndex = end;
  const opening = half.exec(text)?.[1];
  return opening === undefined ? { start: end, end } : valueFrom(text, half.lastIndex, opening);
}

function wordBehind(text: string, from: number): Span {
  BETWEEN.lastIndex = from;
  const opening = BETWEEN.exec(text)?.[1] ?? "";
  return valueFrom(text, BETWEEN.lastIndex, opening);
}

/** A value up to its closing quote, or the end of its word. */
function valueFrom(text: string, start: number, opening: string): Span {
  if (opening !== "") return { start, end: closingQuote(text, start, opening) };
  WORD.lastIndex = start;
  WORD.exec(text);
  return { start, end: WORD.lastIndex };
}

/** The command that an item of a list names, or makes of the command before it; undefined for any other text. */
export function commandOfItem(item: string, before?: Command): Command | undefined {
  if (item === "login" && before === CONTAINERS) return commandOf("docker login");
  const name = item.length > LONGEST_ITEM ? undefined : ITEM.exec(item)?.[1];
  return name === undefined ? undefined : commandOf(name);
}

/** True for an item of a command in a list that is a password, or holds one. */
export function isPasswordOf({ item, whole, isPair }: Command, before: unknown, text: string): boolean {
  if (whole.test(text)) return true;
  return typeof before === "string" && item.test(before) && (!isPair || text.includes(":"));
}
