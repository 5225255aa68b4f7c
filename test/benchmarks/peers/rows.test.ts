import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AcpPeer, acp } from "../../../benchmarks/peers/acp";
import { checks } from "../../../benchmarks/peers/actors/checks";
import type { ActorPeer, Handler } from "../../../benchmarks/peers/actors/peer";
import { actors } from "../../../benchmarks/peers/actors/rows";
import { type FilePeer, files } from "../../../benchmarks/peers/files";
import { http } from "../../../benchmarks/peers/http";
import { Lacks, type Room, type Task, timed } from "../../../benchmarks/peers/room";
import { openPeer } from "../../../benchmarks/peers/rooms";
import type { Server } from "../../../benchmarks/subjects/http-process";
import { isLong } from "../../property/runs";

// The module says which peer it opens; nothing else calls it.
const open = (name: string) => openPeer("actors", name) as Promise<ActorPeer>;
const tasksOf = <Peer>({ tasks }: Room<Peer>, name: RegExp) => tasks.filter((task) => name.test(task.name));
const take = async <Peer>(task: Task<Peer> | undefined, peer: Peer, root = "") =>
  (await task?.prepare(peer, root, 0))?.({ time: 0, fewest: 2 });

// Of the candidates, those that need no package.
test.each(["envoi", "promise", "mailbox"])("each row of actors completes all operations, on %s", async (name) => {
  for (const task of actors.tasks.filter(({ kind }) => kind === "timed")) {
    const readings = take(task, await open(name));
    if (name === "promise" && task.name === "spawn and stop") await expect(readings).rejects.toBeInstanceOf(Lacks);
    else expect((await readings)?.[0]).toHaveLength(2);
  }
});

test("each row of files works on envoi, and what it left on the disk is looked at", async () => {
  const root = await mkdtemp(join(tmpdir(), "envoi-peers-rows-"));
  try {
    const peer = (await openPeer("files", "envoi", root)) as FilePeer; // As the module exports it.
    // A search makes 2,000 files first.
    for (const task of tasksOf(files, isLong ? /^(read|write|edit|list|search)/ : /^(read|write|edit|list)/))
      expect(await take(task, peer, root)).toHaveLength(1);
    const wrong: FilePeer = { ...peer, write: async () => void (await Bun.write(join(root, "write.txt"), "another")) };
    await expect(take(tasksOf(files, /^write/)[0], wrong, root)).rejects.toThrow("the text that is there");
  } finally {
    await rm(root, { recursive: true });
  }
});

// Of the candidates, those that need no package.
test.each(["envoi", "Bun.serve"])("each row of http has all its requests answered, by %s", async (name) => {
  await using server = (await openPeer("http", name)) as Server; // As the modules export it.
  for (const task of http.tasks) {
    const readings = take(task, server);
    if (name !== "envoi" && task.name.includes("refused")) await expect(readings).rejects.toBeInstanceOf(Lacks);
    else expect((await readings)?.[0]).toHaveLength(2);
  }
});

// Of the candidates, those that need no package.
test.each(["envoi", "JSON"])("each row of acp takes, or refuses, all its messages, by %s", async (name) => {
  for (const task of acp.tasks) {
    const readings = take(task, (await openPeer("acp", name)) as AcpPeer); // As the modules export it.
    if (name === "envoi" || /cold|parse only|encode/.test(task.name)) expect((await readings)?.[0]).toHaveLength(2);
    else await expect(readings).rejects.toBeInstanceOf(Lacks);
  }
  const deaf: AcpPeer = { start: "", decode: () => (_all, count) => count - 1 };
  await expect(take(tasksOf(acp, /envelope/)[0], deaf)).rejects.toThrow("9999 of 10000 operations were complete");
  await expect(take(tasksOf(acp, /refused/)[0], deaf)).rejects.toThrow("what fits was refused");
});

test("a row is refused where its work is not complete, or a reply is wrong", async () => {
  const incomplete = timed({ row: "all but one", operations: 100, prepare: () => (count) => count - 1 });
  await expect(take(incomplete, undefined)).rejects.toThrow("99 of 100 operations were complete");
  const wrong: ActorPeer = { spawn: (_name, handler) => handler, tell: () => {}, ask: async () => 1 };
  for (const task of tasksOf(actors, /^ask,/))
    await expect(take(task, wrong)).rejects.toThrow(/^1 of \d+ operations were complete/);
});

test("the checks find that envoi does all of it, and what runs on the caller's stack, throws at it or has no ask", async () => {
  const tell = (to: Handler, message: unknown) => void to(message);
  const ask = async (to: Handler, message: unknown) => to(message);
  const direct = { spawn: (_name: string, handler: Handler) => handler, tell, ask, hasNoAsk: true } as const;
  const found = async (make: () => Promise<ActorPeer>) => {
    const outcomes = checks.map(async (check) => [check.name, await take(check, await make()).catch(String)] as const);
    return Object.fromEntries(await Promise.all(outcomes));
  };
  // In this process and all at once, which spares some seconds: it throws at nobody.
  expect(await found(() => open("envoi"))).toEqual(
    Object.fromEntries(checks.map(({ name }) => [name, [{ holds: true }]])),
  );
  // Its actors are its own.
  expect(await found(async () => direct as ActorPeer)).toMatchObject({
    "`tell` returns before the handler runs": [{ holds: false }],
    "a throw harms neither sender nor process": [{ holds: false }],
    "an ask times out": "Lacks: no ask of its own",
  });
});
