import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checks } from "../../../benchmarks/peers/actors/checks";
import type { ActorPeer } from "../../../benchmarks/peers/actors/peer";
import { actors } from "../../../benchmarks/peers/actors/rows";
import { type CodePeer, code } from "../../../benchmarks/peers/code";
import { type FilePeer, files } from "../../../benchmarks/peers/files";
import { Lacks, type Room, type Task, timed } from "../../../benchmarks/peers/room";
import { openPeer } from "../../../benchmarks/peers/rooms";
import { isLong } from "../../property/runs";

const TURN = { time: 0, fewest: 2 };
// The module says which peer it opens; nothing else calls it.
const open = (name: string) => openPeer("actors", name) as Promise<ActorPeer>;
const take = async <Peer>(task: Task<Peer>, peer: Peer, root = "") => (await task.prepare(peer, root, 0))(TURN);
const taskOf = <Peer>({ tasks }: Room<Peer>, name: string): Task<Peer> => {
  const found = tasks.find((task) => task.name === name);
  if (found === undefined) throw new Error(`there is no ${name}`);
  return found;
};

// Of the candidates, those that need no package.
test.each(["envoi", "promise", "mailbox"])("each row of actors completes all operations, on %s", async (name) => {
  for (const task of actors.tasks.filter(({ kind }) => kind === "timed")) {
    const readings = take(task, await open(name));
    if (name === "promise" && task.name === "spawn and stop") await expect(readings).rejects.toBeInstanceOf(Lacks);
    else expect((await readings)[0]).toHaveLength(2);
  }
});

test("each row of files works on envoi, and what it left on the disk is looked at", async () => {
  const root = await mkdtemp(join(tmpdir(), "envoi-peers-rows-"));
  try {
    const peer = (await openPeer("files", "envoi", root)) as FilePeer; // As the module exports it.
    for (const task of files.tasks.filter(({ kind }) => kind === "timed")) {
      if (task.name === "search of 2,000 files" && !isLong) continue; // It makes them all.
      expect(await take(task, peer, root)).toHaveLength(1);
    }
    const silent: FilePeer = { ...peer, write: async () => void (await Bun.write(join(root, "write.txt"), "another")) };
    await expect(take(taskOf(files, "write 100 B"), silent, root)).rejects.toThrow("the text that is there");
  } finally {
    await rm(root, { recursive: true });
  }
});

test("a row is refused where its work is not complete, or a reply is wrong", async () => {
  const incomplete = timed({ row: "all but one", operations: 100, prepare: () => (count) => count - 1 });
  await expect(take(incomplete, undefined)).rejects.toThrow("99 of 100 operations were complete");
  const wrong: ActorPeer = { spawn: (_name, handler) => handler, tell: () => {}, ask: async () => 1 };
  for (const task of actors.tasks.filter(({ name }) => name.startsWith("ask,")))
    await expect(take(task, wrong)).rejects.toThrow(/^1 of \d+ operations were complete/);
});

test("an idle actor keeps some heap, and a mailbox that drains in a microtask leaves a timer nothing", async () => {
  const [heap] = await take(taskOf(actors, "heap"), await open("mailbox"));
  const [bytes = 0] = heap as readonly number[]; // A sample is a number.
  expect(bytes).toBeGreaterThan(0);
  expect(bytes).toBeLessThan(600);
  expect(await take(taskOf(actors, "fairness"), await open("mailbox"))).toEqual([{ says: "never" }, { holds: false }]);
});

test("the checks find that envoi does all of it", async () => {
  // In this process and all at once, which spares some seconds: it throws at nobody.
  const outcomes = await Promise.all(checks.map(async (check) => take(check, await open("envoi"))));
  expect(outcomes.flat()).toEqual(checks.map(() => ({ holds: true })));
});

test("the checks find what runs on the caller's stack, throws at its sender and has no ask", async () => {
  const direct: ActorPeer<(message: unknown) => unknown> = {
    spawn: (_name, handler) => handler,
    tell: (to, message) => void to(message),
    ask: async (to, message) => to(message),
    hasNoAsk: true,
  };
  const found = checks.map(async (check) => {
    const outcome = await take(check, direct as ActorPeer).catch((error: Error) => error.message); // Its actors are its own.
    return [check.name, outcome] as const;
  });
  expect(Object.fromEntries(await Promise.all(found))).toMatchObject({
    "`tell` returns before the handler runs": [{ holds: false }],
    "a throw harms neither sender nor process": [{ holds: false }],
    "an ask times out": "no ask of its own",
  });
});

test("an attack that gives its value is told so, with how long the timer beside it was kept waiting", async () => {
  const peer: CodePeer = {
    call: "",
    run: async (text) => ({ value: text === "return 6 * 7" ? 42 : Bun.sleepSync(30) }),
  };
  const [ended, gap] = await take(taskOf(code, "an endless loop"), peer);
  expect(ended).toMatchObject({ median: expect.any(Number), note: "with a value" });
  expect((gap as { median: number }).median).toBeGreaterThanOrEqual(30e6); // An outcome with a figure.
});
