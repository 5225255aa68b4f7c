import { closingQuote } from "./named-values";
import { isRedacted } from "./redacted";

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
  { name: / login$/, option: /(?<=[\s"'`,])-p(?=[\s"',=])/g, item: /^-p$/, whole: /^-p./, isPair: false },
];
const NAMES =
  /(?<![\w.-])(curl|sshpass|(?:mysql|mariadb)(?:-?[a-z]{1,16}){0,2}|redis-cli|(?:docker|podman) login)(?=(?:\.exe)?[\s"'`,])/g;
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
      const value = wordBehind(text, at);
      const word = text.slice(value.start, value.end);
      const secret = command.isPair ? word.slice(word.indexOf(":") + 1) : word;
      if (secret === "" || isRedacted(secret) || (command.isPair && secret === word)) continue;
      result += text.slice(done, value.end - secret.length) + redacted(secret);
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

function wordBehind(text: string, from: number): { readonly start: number; readonly end: number } {
  BETWEEN.lastIndex = from;
  const opening = BETWEEN.exec(text)?.[1] ?? "";
  const start = BETWEEN.lastIndex;
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
