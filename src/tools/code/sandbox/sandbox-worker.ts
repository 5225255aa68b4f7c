/** The program of a process of the sandbox: it reads orders from its channel, runs them one by one, and tells what comes of them. */
import { readSync, writeSync } from "node:fs";
import { CHANNEL, type News, type Order, type Word } from "../pool/channel";
import { confine } from "../pool/confine";
import { type Interpreter, Interpreters } from "./interpreter";

const MB = 1024 * 1024;

function tell(news: News): void {
  const bytes = Buffer.from(`${JSON.stringify(news)}\n`);
  for (let at = 0; at < bytes.length; ) at += writeSync(CHANNEL, bytes, at, bytes.length - at);
}

let unread = Buffer.alloc(0);
const piece = Buffer.alloc(64 * 1024);

/** The next line; waits for it on this thread, since there is nothing else to do. Undefined once the host is gone. */
function readLine(): string | undefined {
  const pieces = [unread];
  for (let searched = unread; ; ) {
    const end = searched.indexOf(10);
    if (end >= 0) {
      const whole = Buffer.concat(pieces);
      const length = whole.length - searched.length + end;
      unread = whole.subarray(length + 1);
      return whole.toString("utf8", 0, length);
    }
    const length = readSync(CHANNEL, piece);
    if (length === 0) return undefined;
    searched = Buffer.from(piece.subarray(0, length));
    pieces.push(searched);
  }
}

async function serve(): Promise<void> {
  let interpreters: Interpreters;
  try {
    interpreters = await Interpreters.load();
  } catch (thrown) {
    return tell(["unavailable", thrown instanceof Error ? thrown.message : String(thrown)]);
  }
  let next: Interpreter = await interpreters.prepare(64 * MB);
  // A first run loads what is loaded late, before the process may load no more.
  const rehearsal: Order = {
    number: 0,
    file: "rehearsal.js",
    declares: [],
    isKept: false,
    body: "console.log([{}]); return 1",
    timeout: 1_000,
    memory: 0,
    maxOutput: 1_000,
  };
  next.run(rehearsal, () => {});
  next = await interpreters.prepare(64 * MB);
  tell(["ready", confine()]);
  for (;;) {
    const line = readLine();
    if (line === undefined) return;
    const [word, order] = JSON.parse(line) as Word; // The host's own words.
    if (word !== "run") continue;
    if (next.bytes !== order.memory) next = await interpreters.prepare(order.memory);
    const outcome = next.run(order, (level, text, time) => tell(["log", level, text, time]));
    tell(["end", order.number, outcome]);
    next.dispose();
    const { hasGrown } = next;
    next = await interpreters.prepare(order.memory);
    if (hasGrown) Bun.gc(true);
  }
}

try {
  await serve();
} catch {
  // The channel broke: the host is gone.
}
process.exit(0);
