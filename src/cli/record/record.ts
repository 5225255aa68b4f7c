import { RecordingError } from "../../record/index";
import { thereIsNo, UsageError } from "../arguments";
import { plain } from "../plain";
import type { Status, Terminal } from "../terminal";
import { diff } from "./diff";
import { grep } from "./grep";
import { ls } from "./ls";
import { show } from "./show";

const HELP = `envoi record COMMAND [options]

  ls [FOLDER…]          the recordings in a folder (here, if none is named): parts, times, counts, and how each ended;
                      not those in folders below: ls '**/*.ndjson' lists them
  show FILE             one line for each message, with its outcome
      --id N              all of the message N: payload, metadata, items, outcome
      --follow-causes     as a tree: each message below the one whose handler sent it; with --id, of that one alone
  grep PATTERN FILE…    messages with a text in their payload, reply, items or error
      --regex             the pattern is a regular expression; its time grows linearly with the text
      --ignore-case       capital and small letters are the same
      --operation NAME    only messages of that operation
      --actor ADDRESS     only messages from or to an actor; * stands for any letters
  diff A B              the messages that differ; status 1 if any do
      --ignore PATH       leaves a part out, such as payload.id or reply.items.*.time; may be given more than once
      --metadata          compares metadata, too
      --help              this text

FILE is any part of a recording, or a glob that matches its parts; all parts are read in order.
--json gives the lines as JSON to ls, show and grep. Control characters of what was recorded are shown as \\u001b.
`;

const COMMANDS = { ls, show, grep, diff } as const;

/** Runs `envoi record …`. */
export async function record([command = "--help", ...rest]: readonly string[], terminal: Terminal): Promise<Status> {
  if (/^(?:help|--help|-h)$/.test(command) || rest.includes("--help")) {
    await terminal.out(HELP);
    return 0;
  }
  try {
    if (Object.hasOwn(COMMANDS, command)) return await COMMANDS[command as keyof typeof COMMANDS](rest, terminal); // It has it.
    throw new UsageError(thereIsNo("command", command, Object.keys(COMMANDS)));
  } catch (error) {
    const isTold = error instanceof UsageError || error instanceof RecordingError;
    // Errors of the operating system have a code, and name the path.
    if (!isTold && !(error instanceof Error && "code" in error)) throw error;
    terminal.err(`${plain(error.message)}\n`); // It may name files, whose names may be a stranger's.
    return 2;
  }
}
