/**
 * A chat in the terminal: `bun run demo:chat [--chaos] [--join NAME] [--rooms N] [--users N] [--seconds N] [--seed N]`.
 *
 *   users/ada ── say ──▶ lobby ── say (forwarded) ──▶ lobby/general ── append (ask) ──▶ log
 *       ▲ the position, once the log has it ────────────────┤
 *   users/ada/reader ◀── hear (topic, to all who are in) ───┘
 *       └── since, where lines are missing ──▶ lobby ──▶ lobby/general
 *   chaos ── strike ──▶ lobby ──▶ lobby/general: throws, throws late, hangs, or is stopped
 *
 * Each arrow is a typed message of protocols.ts. Nobody loses a message that was acknowledged, because
 *   - a room acknowledges what the log has, and a room that begins anew reads its history back (room.ts);
 *   - a user sends what was not acknowledged again, under the same id, which the log takes once (user.ts, log.ts);
 *   - the lobby restarts a room that failed, and opens one anew that was stopped (lobby.ts);
 *   - a reader sees by its position that a line is missing, and reads it in the history (reader.ts).
 * tally.ts counts whether that is true. chat.ts puts the actors together; the rest is the command around them.
 */
import { type Logger, systemClock } from "envoi";
import { seededRandom } from "./chance";
import { openChat } from "./chat";
import { type Command, parseCommand, USAGE, UsageError } from "./command-line";
import { jsonOf, reportOf } from "./report";
import { liveView } from "./screen";
import { typistAt } from "./typist";
import { noteRooms, plainView, silence, type View } from "./view";

async function run(command: Command): Promise<number> {
  const { rooms, users, seconds, chaos, seed, join } = command;
  const end = new AbortController(); // They finish what they were saying.
  const interrupt = new AbortController(); // They do not.
  let exitCode = 0;
  const onSignal = (signal: "SIGINT" | "SIGTERM"): void => {
    exitCode = signal === "SIGINT" ? 130 : 143;
    if (interrupt.signal.aborted) process.exit(exitCode); // The second Ctrl-C.
    interrupt.abort();
  };

  const typist =
    join === null
      ? null
      : typistAt(join, {
          onLine: (text) => chat.say(text),
          onQuit: () => end.abort(),
          onInterrupt: () => onSignal("SIGINT"),
        });
  const view = typist ?? viewOf(command);
  const logger: Logger = { warn: (sentence) => view.note(sentence), error: (sentence) => view.note(sentence) };
  const person = join === null || typist === null ? null : { name: join, onHeard: typist.show };
  const chat = openChat({ rooms, users, chaos, person, clock: systemClock, random: seededRandom(seed), logger });
  noteRooms(chat.system, view);
  process.once("exit", view.close); // Whatever ends the program, the terminal is as it was.
  view.open(chat.system);

  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  await chat.talk(seconds * 1000, AbortSignal.any([end.signal, interrupt.signal]));
  const tally = await chat.leave(interrupt.signal, view.close);
  process.off("SIGINT", onSignal);
  process.off("SIGTERM", onSignal);
  process.stdout.write(command.output === "json" ? jsonOf(tally, seed) : reportOf(tally, seed));
  return tally.isFlawless ? exitCode : 1;
}

function viewOf({ output, rooms, users, chaos, seed }: Command): View {
  const title = `${users} users in ${rooms} rooms${chaos ? ", with chaos" : ""} (seed ${seed})`;
  if (output === "json") return silence();
  if (output === "live") return liveView(process.stdout, title);
  process.stdout.write(`${title}\n`);
  return plainView((text) => process.stdout.write(text));
}

process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(141); // Nobody reads any more, as after `| head`: as if by SIGPIPE.
  throw error;
});

try {
  const canShow = process.stdout.isTTY === true && process.env["TERM"] !== "dumb";
  const canType = process.stdout.isTTY === true && process.stdin.isTTY === true;
  const seed = Math.floor(Math.random() * 1_000_000);
  const command = parseCommand(process.argv.slice(2), { canShow, canType, seed });
  if (command === undefined) process.stdout.write(USAGE);
  else process.exitCode = await run(command);
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
}
