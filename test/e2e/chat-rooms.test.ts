import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { seededRandom } from "../../examples/chat-rooms/chance";
import { type Chat, type ChatOptions, openChat } from "../../examples/chat-rooms/chat";
import { parseCommand, UsageError } from "../../examples/chat-rooms/command-line";
import { newDiary } from "../../examples/chat-rooms/diary";
import type { Entry, Fault } from "../../examples/chat-rooms/protocols";
import { type Evidence, type Tally, tallyOf } from "../../examples/chat-rooms/tally";
import { type ActorReport, address, createMessage } from "../../src/index";
import { createManualClock, type ManualClock } from "../../src/testing/index";
import { refusalOf } from "./refusal";

const project = join(import.meta.dir, "../..");
const main = join(project, "examples/chat-rooms/main.ts");

const SECOND = 1_000;
/** How long a test of the program may take, in milliseconds: it runs in real time. */
const LONG = 240_000;

interface Rehearsal {
  readonly chat: Chat;
  readonly clock: ManualClock;
  /** What zoe read: she is in the first room, and says what the test has her say. */
  readonly heard: readonly Entry[];
  readonly log: readonly string[];
}

/** A chat on a clock that the test moves. */
function rehearse(seed: number, options: Partial<ChatOptions> = {}): Rehearsal {
  const clock = createManualClock();
  const heard: Entry[] = [];
  const log: string[] = [];
  const note = (sentence: string): void => void log.push(sentence);
  const person = { name: "zoe", onHeard: (entry: Entry) => void heard.push(entry) };
  const logger = { warn: note, error: note };
  const random = seededRandom(seed);
  const chat = openChat({ rooms: 3, users: 6, chaos: true, person, clock, random, logger, ...options });
  return { chat, clock, heard, log };
}

/** Moves the clock until all have left. */
async function tallyAfter({ chat, clock }: Rehearsal, hurry?: AbortSignal, onQuiet?: () => void): Promise<Tally> {
  const leaving = { tally: null as Tally | null };
  const left = chat.leave(hurry, onQuiet).then((tally) => {
    leaving.tally = tally;
  });
  for (let i = 0; i < 1_000 && leaving.tally === null; i++) await clock.advance(100);
  await left;
  if (leaving.tally === null) throw new Error("They never left.");
  await clock.advance(SECOND); // The window of the log of dead letters closes.
  expect({ timers: clock.timers }).toEqual({ timers: 0 });
  return leaving.tally;
}

/** Ten seconds of talk, in which zoe says five lines. */
async function hold(rehearsal: Rehearsal, onQuiet?: () => void): Promise<Tally> {
  for (let i = 1; i <= 5; i++) {
    await rehearsal.clock.advance(2 * SECOND);
    rehearsal.chat.say(`line ${i}`);
  }
  return tallyAfter(rehearsal, undefined, onQuiet);
}

const flawless = {
  lost: 0,
  duplicates: 0,
  outOfOrder: 0,
  misread: 0,
  unread: 0,
  isBalanced: true,
  unfinished: 0,
  isFlawless: true,
};

/** A sum over a tree of actors. */
function sumOf(reports: readonly ActorReport[], figure: (report: ActorReport) => number): number {
  return reports.reduce((sum, report) => sum + figure(report) + sumOf(report.children, figure), 0);
}

describe("on a manual clock", () => {
  test("rooms are killed, and each message is in the history once, in order, and read by all", async () => {
    for (let seed = 1; seed <= 15; seed++) {
      const rehearsal = rehearse(seed);
      const tally = await hold(rehearsal);
      expect({ seed, ...tally }).toMatchObject({ seed, ...flawless, isCutShort: false });
      expect([tally.acknowledged, tally.inHistory]).toEqual([tally.sent, tally.sent]);
      // Lest nothing happened.
      expect(tally.sent).toBeGreaterThan(150);
      expect(Math.min(tally.restarts, tally.reopened, tally.resent, tally.lateReplies)).toBeGreaterThan(0);
      expect(tally.roomsKilled).toBeGreaterThanOrEqual(tally.restarts + tally.reopened); // Some while they waited to restart.
      const own = rehearsal.heard.filter((entry) => entry.from === "zoe").map((entry) => entry.text);
      expect(own).toEqual(["line 1", "line 2", "line 3", "line 4", "line 5"]);
      expect(rehearsal.heard.map((entry) => entry.position)).toEqual([...rehearsal.heard.keys()]);
    }
  });

  test("the same seed gives the same conversation, and another one another", async () => {
    const [first, again, other] = [rehearse(7), rehearse(7), rehearse(8)];
    const tally = await hold(first);
    expect(await hold(again)).toEqual(tally);
    expect(again.heard).toEqual(first.heard);
    expect(again.log).toEqual(first.log);
    await hold(other);
    expect(other.heard).not.toEqual(first.heard);
  });

  test("without chaos nobody has to say anything twice, and what a slow reader's mailbox dropped is read all the same", async () => {
    const rehearsal = rehearse(1, { rooms: 1, chaos: false });
    let waiting = -1;
    const tally = await hold(rehearsal, () => {
      waiting = sumOf(rehearsal.chat.system.inspect(), ({ queued, current }) => queued + current.length);
    });
    expect({ waiting }).toEqual({ waiting: 0 }); // They leave when all has been read.
    expect(tally).toMatchObject({ ...flawless, resent: 0, roomsKilled: 0, restarts: 0, lateReplies: 0 });
    expect(Math.min(tally.dropped, tally.caughtUp)).toBeGreaterThan(0);
    expect(rehearsal.log).toEqual([]);
  });

  test("a room that is gone while the system shuts down is not opened anew", async () => {
    const rehearsal = rehearse(1, { rooms: 2, users: 2, chaos: false });
    const { chat, clock, log } = rehearsal;
    const stopped: string[] = [];
    chat.system.events.subscribe(({ kind, address: at }) => void (kind === "stopped" && stopped.push(at)));
    const strike = (room: string, fault: Fault): void =>
      chat.system.router.tell(createMessage(address("lobby"), "strike", { room, fault }));
    strike("garden", "hang"); // Until 700 to 900 ms: bea, who is in there, speaks after 100 to 300 ms.
    await clock.advance(400);
    strike("garden", "stop");
    await clock.advance(250);
    strike("general", "hang");
    chat.say("wait for me"); // Until 900 ms, so that the users have not stopped before.
    await clock.advance(5);
    const tally = await tallyAfter(rehearsal, AbortSignal.abort());
    expect(tally).toMatchObject({ lost: 0, reopened: 0, isBalanced: true, isFlawless: true });
    expect(log.filter((line) => line.includes("shut down"))).toEqual([]);
    const order = stopped.filter((at) => !at.endsWith("/reader)"));
    expect(order.indexOf("@(lobby/garden)")).toBeLessThan(order.indexOf("@(users/zoe)")); // Lest it was too late.
    expect(order.slice(-4)).toEqual(["@(users/zoe)", "@(lobby/general)", "@(lobby)", "@(log)"]);
  });

  const faults: [Fault[], Partial<Tally>][] = [
    [["throw"], { roomsKilled: 1, restarts: 1, reopened: 0, resent: 1, lateReplies: 0 }],
    [["throw-late"], { roomsKilled: 1, restarts: 1, reopened: 0, resent: 1, lateReplies: 0 }],
    [["hang"], { roomsKilled: 0, restarts: 0, reopened: 0, resent: 2, lateReplies: 1 }],
    [["stop"], { roomsKilled: 1, restarts: 0, reopened: 1, resent: 0, lateReplies: 0 }],
    [["throw", "stop"], { roomsKilled: 2, restarts: 0, reopened: 1, resent: 2, lateReplies: 0 }], // As it waits to restart.
    [["hang", "stop"], { roomsKilled: 1, restarts: 0, reopened: 1, lateReplies: 1 }],
  ];
  test.each(faults)("a room that meets %p has what was said to it once", async (those, expected) => {
    const rehearsal = rehearse(1, { rooms: 1, users: 0, chaos: false });
    const { chat, clock, heard } = rehearsal;
    const strike = (fault: Fault | undefined): void => {
      if (fault !== undefined)
        chat.system.router.tell(createMessage(address("lobby"), "strike", { room: "general", fault }));
    };
    chat.say("before");
    await clock.advance(100);
    strike(those[0]);
    chat.say("meanwhile");
    chat.say("after");
    await clock.advance(10);
    strike(those[1]);
    await clock.advance(2 * SECOND);
    expect(heard.map((entry) => entry.text)).toEqual(["before", "meanwhile", "after"]);
    expect(await tallyAfter(rehearsal)).toMatchObject({ ...flawless, sent: 3, inHistory: 3, ...expected });
  });

  test("who leaves while a room hangs waits until it has the last words", async () => {
    const rehearsal = rehearse(1, { rooms: 1, users: 0, chaos: false });
    const { chat, clock } = rehearsal;
    chat.system.router.tell(createMessage(address("lobby"), "strike", { room: "general", fault: "hang" }));
    chat.say("last words");
    await clock.advance(255); // She has given up the first time, and has not sent it again.
    expect(await tallyAfter(rehearsal)).toMatchObject({ ...flawless, sent: 1, acknowledged: 1, inHistory: 1 });
  });

  test("in a crowd slow readers lose most lines, and read them all the same, while their room is killed", async () => {
    for (let seed = 1; seed <= 10; seed++) {
      const tally = await hold(rehearse(seed, { rooms: 1, users: 12 }));
      expect({ seed, ...tally }).toMatchObject({ seed, ...flawless, isCutShort: false });
      expect(tally.dropped).toBeGreaterThan(tally.sent);
    }
  });

  test("a chat that is cut short loses nothing that was acknowledged by then", async () => {
    let isUnacknowledged = false;
    for (let seed = 1; seed <= 20; seed++) {
      const rehearsal = rehearse(seed);
      await rehearsal.clock.advance(2 * SECOND + 7 * seed);
      const tally = await tallyAfter(rehearsal, AbortSignal.abort());
      const { unread, ...rest } = flawless;
      expect({ seed, ...tally }).toMatchObject({ seed, ...rest, isCutShort: true });
      expect(tally.inHistory).toBeGreaterThanOrEqual(tally.acknowledged);
      expect(tally.sent).toBeGreaterThanOrEqual(tally.inHistory);
      isUnacknowledged ||= tally.sent > tally.acknowledged;
    }
    expect(isUnacknowledged).toBe(true);
  });
});

describe("the tally", () => {
  const entry = (nth: number): Entry => ({ id: `ada-${nth}`, room: "a", from: "ada", text: `${nth}`, position: nth });
  const all = [entry(0), entry(1), entry(2)];
  /** Three posts, all well, but for what is given. */
  const verdict = (
    history: readonly Entry[],
    heard: readonly Entry[] = history,
    more: Partial<Evidence> = {},
  ): Tally => {
    const diary = { ...newDiary("ada", "a"), sent: [...all], acknowledged: [0, 1, 2], heard: [...heard] };
    const events = { started: 1, failed: 0, restarted: 0, dropped: 0, late: 0 };
    const audit = { accepted: 3, handled: 2, failed: 0, dead: 1, queued: 0, running: 0 };
    const rest = { rooms: 1, events, audit, isCutShort: false, unfinished: 0 };
    return tallyOf({ entries: history, diaries: [diary], ...rest, ...more });
  };

  test("finds what is lost, twice there, out of order, misread and unread", () => {
    expect(verdict(all)).toMatchObject(flawless);
    expect(verdict(all.slice(0, 2))).toMatchObject({ lost: 1, isFlawless: false });
    expect(verdict([...all, entry(2)])).toMatchObject({ lost: 0, duplicates: 1, isFlawless: false });
    expect(verdict([entry(0), entry(2), entry(1)])).toMatchObject({ outOfOrder: 1, isFlawless: false });
    expect(verdict(all, [entry(0), entry(0)])).toMatchObject({ misread: 1, isFlawless: false });
    expect(verdict(all, all.slice(1))).toMatchObject({ misread: 2, isFlawless: false });
    expect(verdict(all, all.slice(0, 1))).toMatchObject({ misread: 0, unread: 2, isFlawless: false });
  });

  test("finds messages without an outcome, and actors that did not stop", () => {
    const audit = { accepted: 4, handled: 2, failed: 0, dead: 1, queued: 0, running: 0 };
    expect(verdict(all, all, { audit })).toMatchObject({ isBalanced: false, isFlawless: false });
    const running = { ...audit, running: 1 };
    expect(verdict(all, all, { audit: running })).toMatchObject({ isBalanced: false, isFlawless: false });
    expect(verdict(all, all, { unfinished: 1 })).toMatchObject({ isFlawless: false });
  });
});

interface Outcome {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

const { npm_lifecycle_event, INIT_CWD, npm_config_local_prefix, ...environment } = process.env; // As in a plain shell.
const plainShell = { ...environment, NO_COLOR: "1", TERM: "xterm-256color" };

/** Runs the program; with `interruptAt`, it gets Ctrl-C once it has written that. */
async function run(args: readonly string[], interruptAt?: string, command = [main]): Promise<Outcome> {
  const child = Bun.spawn([process.execPath, ...command, ...args], {
    cwd: project,
    env: plainShell,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: 120_000,
    killSignal: "SIGKILL",
  });
  const stderr = child.stderr.text();
  let stdout = "";
  let isInterrupted = false;
  const decoder = new TextDecoder();
  for await (const chunk of child.stdout) {
    stdout += decoder.decode(chunk, { stream: true });
    if (interruptAt === undefined || isInterrupted || !stdout.includes(interruptAt)) continue;
    isInterrupted = true;
    child.kill("SIGINT");
  }
  return { exitCode: await child.exited, stdout, stderr: await stderr };
}

/** Runs the program in a terminal of 100 × 30; `type` is called once, when it has written `at`. */
async function runInTerminal(
  args: readonly string[],
  at: string,
  type: (terminal: Bun.Terminal) => void | Promise<void>,
): Promise<{ readonly exitCode: number; readonly screen: string }> {
  let screen = "";
  let isTyped = false;
  const decoder = new TextDecoder();
  const child = Bun.spawn([process.execPath, main, ...args], {
    cwd: project,
    env: plainShell,
    timeout: 120_000,
    killSignal: "SIGKILL",
    terminal: {
      cols: 100,
      rows: 30,
      data(terminal, chunk) {
        screen += decoder.decode(chunk, { stream: true });
        if (isTyped || !screen.includes(at)) return;
        isTyped = true;
        void type(terminal);
      },
    },
  });
  const exitCode = await child.exited;
  return { exitCode, screen: screen.replaceAll("\r", "") };
}

/** The figures of a report, by their names. */
function figuresOf(report: string): Record<string, number> {
  const lines = report.matchAll(/^([a-z][a-z ]+?) +(\d+)(?: |$)/gm);
  return Object.fromEntries([...lines].map(([, name, figure]) => [name, Number(figure)]));
}

/** What takes a terminal to its other screen, and back. */
const OTHER = "\x1b[?1049h";
const BACK = "\x1b[?1049l";

describe("the program", () => {
  test.concurrent(
    "--chaos --plain: lines, the tree, a tally without loss, and status 0",
    async () => {
      const { exitCode, stdout, stderr } = await run(["--chaos", "--seed", "7", "--seconds", "2", "--plain"]);
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
      const figures = figuresOf(stdout);
      expect(figures).toMatchObject({ lost: 0, duplicates: 0, "out of order": 0, misread: 0, unread: 0 });
      expect(figures["sent"]).toBeGreaterThan(10);
      expect([figures["acknowledged"], figures["in the history"]]).toEqual([figures["sent"], figures["sent"]]);
      expect(figures["rooms killed"]).toBeGreaterThan(0);
      expect(stdout).toMatch(/^ +\d+\.\d s {2}@\(lobby\/\w+\) (has restarted; restarts: 1|was stopped)\.$/m);
      expect(stdout).toMatch(/^actor +state +queued +handled +failed +restarts$/m);
      expect(stdout).toMatch(/^ {2}garden +[a-z]+.* +\d+ +\d+ +\d+ +\d+$/m);
      expect(stdout).toMatch(/^\d+ messages = .*: in balance$/m);
      expect(stdout).toEndWith("Nothing that was acknowledged is lost (seed 7).\n");
      expect(stdout).not.toMatch(/[^\P{Cc}\n]/u); // Nothing that a terminal would obey.
    },
    LONG,
  );

  test.concurrent(
    "into a pipe it prints lines of itself, also by bun run",
    async () => {
      const { exitCode, stdout, stderr } = await run(["--seconds=1", "--users=1"], undefined, ["run", "demo:chat"]);
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
      expect(stdout).toStartWith("1 users in 3 rooms (seed ");
      expect(stdout).not.toMatch(/[^\P{Cc}\n]/u);
      expect(figuresOf(stdout)).toMatchObject({ lost: 0, "sent again": 0, "rooms killed": 0 });
    },
    LONG,
  );

  test.concurrent(
    "--json prints one document and nothing else",
    async () => {
      const args = ["--json", "--chaos", "--seed", "9", "--seconds", "1", "--users", "12", "--rooms", "2"];
      const { exitCode, stdout, stderr } = await run(args);
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
      expect(JSON.parse(stdout)).toMatchObject({
        schema: "envoi.chat-rooms/1",
        seed: 9,
        ...flawless,
        isCutShort: false,
      });
    },
    LONG,
  );

  test.concurrent(
    "Ctrl-C ends it with the tally, and status 130",
    async () => {
      const args = ["--chaos", "--seed", "7", "--seconds", "60", "--plain"];
      const { exitCode, stdout, stderr } = await run(args, "has restarted");
      expect({ exitCode, stderr }).toEqual({ exitCode: 130, stderr: "" });
      const figures = figuresOf(stdout);
      expect(figures).toMatchObject({ lost: 0, duplicates: 0, "out of order": 0, misread: 0 });
      expect(figures["acknowledged"]).toBeGreaterThan(0);
      expect(stdout).toMatch(/^\d+ messages = .*: in balance$/m);
      expect(stdout).toContain("It was stopped early, and nothing that was acknowledged by then is lost (seed 7).");
    },
    LONG,
  );

  test.concurrent(
    "a wrong command line gets one sentence, and status 2",
    async () => {
      const wrong: [string[], string][] = [
        [["--colour"], "There is no option --colour"],
        [["--chaos=yes"], "There is no option --chaos=yes"],
        [["general"], "There is no option general"],
        [["--rooms", "0"], '--rooms needs a whole number from 1 to 20; got "0".'],
        [["--users", "many"], '--users needs a whole number from 0 to 200; got "many".'],
        [["--seconds"], '--seconds needs a whole number from 1 to 86400; got "".'],
        [["--seed", "-1"], "--seed needs a whole number"],
        [["--plain", "--json"], "Give --plain or --json, not both."],
        [["--join", "a b"], "--join needs a name"],
        [["--join", "zoe"], "--join needs a terminal"],
      ];
      for (const [args, sentence] of wrong) {
        const said = refusalOf(() => parseCommand(args, { canShow: false, canType: false, seed: 1 }), UsageError);
        expect({ args, said, lines: said.split("\n").length }).toEqual({
          args,
          said: expect.stringContaining(sentence),
          lines: 1,
        });
      }
      const stderr = "There is no option --colour; --help tells which there are.\n";
      expect(await run(["--colour"])).toEqual({ exitCode: 2, stdout: "", stderr });
      expect(await run(["--help"])).toMatchObject({ exitCode: 0, stderr: "" });
    },
    LONG,
  );

  test.concurrent(
    "on a terminal the tree is redrawn in place, within its width, and Ctrl-C leaves all as it was",
    async () => {
      const args = ["--chaos", "--seed", "3", "--users", "20"];
      const { exitCode, screen } = await runInTerminal(args, "@(lobby/", (terminal) => void terminal.write("\x03"));
      expect(exitCode).toBe(130);
      const [before, live = "", after = ""] = screen.replace(BACK, OTHER).split(OTHER);
      expect(before).toBe("");
      expect(live).toStartWith("\x1b[?25l"); // The cursor goes,
      expect(live).toEndWith("\x1b[?25h"); // and comes back.
      const frames = live.replace("^C", "").split("\x1b[?2026h").slice(1); // Without what the terminal writes by itself.
      expect(frames.length).toBeGreaterThan(1);
      for (const frame of frames) {
        expect(frame).toStartWith("\x1b[H20 users in 3 rooms, with chaos (seed 3)");
        const lines = Bun.stripANSI(frame).split("\n");
        expect(lines.length).toBeLessThan(30);
        expect(Math.max(...lines.map((line) => Bun.stringWidth(line)))).toBeLessThanOrEqual(100);
      }
      expect(after).not.toContain("\x1b");
      expect(figuresOf(after)).toMatchObject({ lost: 0, duplicates: 0, "out of order": 0, misread: 0 });
    },
    LONG,
  );

  test.concurrent(
    "--join: what is typed is said, the conversation is shown, and /quit leaves with the tally",
    async () => {
      const args = ["--join", "zoë", "--chaos", "--seed", "3", "--users", "2"];
      const { exitCode, screen } = await runInTerminal(args, "/quit", (terminal) => {
        terminal.write("hello, 世界\r/tree\r/what\r/quit\r");
      });
      expect(exitCode).toBe(0);
      const text = Bun.stripANSI(screen);
      expect(text).toContain("#general  zoë: hello, 世界");
      expect(text).toMatch(/^users\/zoë +[a-z]/m);
      expect(text.split("Type, and press Enter.").length).toBe(3); // At the beginning, and for /what.
      expect(figuresOf(text)).toMatchObject({ lost: 0, duplicates: 0, "out of order": 0, misread: 0, unread: 0 });
      expect(text).toEndWith("Nothing that was acknowledged is lost (seed 3).\n");
    },
    LONG,
  );

  test.concurrent(
    "--join: Ctrl-D leaves as /quit does, and Ctrl-C at once",
    async () => {
      for (const [key, status] of [
        ["\x04", 0],
        ["\x03", 130],
      ] as const) {
        const { exitCode, screen } = await runInTerminal(
          ["--join", "zoe"],
          "#general",
          (terminal) => void terminal.write(key),
        );
        expect({ exitCode, isTallied: screen.includes(": in balance") }).toEqual({ exitCode: status, isTallied: true });
      }
    },
    LONG,
  );
});
