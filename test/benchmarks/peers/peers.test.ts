import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { renderPeers } from "../../../benchmarks/peers/page";
import { keep, ROOMS, readPeers } from "../../../benchmarks/peers/results";
import { rooms } from "../../../benchmarks/peers/rooms";
import { standingsOf } from "../../../benchmarks/peers/standing";
import { type Kind, peerResult, peerRow } from "./sample";

const three = peerRow("tell", { envoi: 30, other: 400, mailbox: 20 });

test("a peer is ahead by more than 3 %, and one that overlaps messages or starves timers does less; a floor is no peer", () => {
  const standing = (other: number, kind?: Kind) => {
    const [found] = standingsOf(peerResult({ envoi: 100, other }, kind && { other: kind }));
    return found?.isBehind ? "ahead" : found?.less === undefined ? "equal" : "less";
  };
  expect([standing(98), standing(96)]).toEqual(["equal", "ahead"]);
  expect([standing(50, "less"), standing(50, "starves"), standing(50, "floor")]).toEqual(["less", "less", "equal"]);
});

test("the page has each figure in its table, why one is missing, what each is, and how envoi stands", () => {
  const at = (peer: string, ...rounds: number[]) => ({ peer, median: Math.max(...rounds), rounds });
  const gone = { peer: "other", failed: "other did not start: no such module" };
  const rows = [
    three,
    { ...three, row: "ask", figures: [{ peer: "envoi", none: "nobody asks" }, gone] },
    { ...three, table: "", figures: [at("envoi", 30, 90, 60), at("mailbox", 20, 60, 20)] }, // A busy moment counts once.
    { ...three, table: "ended", figures: [{ peer: "envoi", median: 503.4e6, note: "with a value" }, gone] },
    { table: "race", row: "a FIFO", unit: "", figures: [{ peer: "envoi", says: "refuses" }] } as const,
    { table: "race", row: "reads", unit: "", figures: [{ peer: "envoi", median: 281_040 }] } as const,
  ];
  const page = renderPeers([peerResult({ envoi: 30, other: 400, mailbox: 20 }, { mailbox: "floor" }, rows)]);
  for (const part of [
    "|  | envoi | other | *mailbox* |",
    "| tell | 30 ns (15 ns) | 400 ns (200 ns) | 20 ns (10 ns) |",
    "| tell | 503 ms, with a value | failed | – |",
    "| a FIFO | refuses | – | – |\n| reads | 281,040 | – | – |",
    "| timers fire while two actors volley | yes | yes | yes |",
    "- envoi (nobody asks): no *ask*.\n- other did not start: no such module.\n",
    "- **mailbox**, a floor: in process; mailbox 1.2.3.",
    "and more are bold: tell 1.5; tell 1.5.",
  ])
    expect(page).toContain(part);
});

test("the results in the repository have the rows and the peers that there are", async () => {
  const all = await readPeers();
  expect(all.map(({ room }) => room)).toEqual([...ROOMS]);
  for (const { room, rows, peers } of all) {
    const { candidates, tasks } = rooms[room];
    expect(rows.map(({ figures: _, ...head }) => head)).toEqual(tasks.flatMap(({ heads }) => heads));
    expect(peers.map(({ name, how }) => [name, how])).toEqual(candidates.map(({ name, how }) => [name, how]));
  }
});

test("results are read as they were kept; a file of another shape is refused with its name and what to do", async () => {
  const folder = await mkdtemp(join(tmpdir(), "envoi-peers-results-"));
  try {
    await keep(folder, peerResult({ envoi: 30 }));
    expect(await readPeers(folder)).toEqual([peerResult({ envoi: 30 })]);
    await Bun.write(join(folder, "peers-code.json"), '{ "machine": {} }');
    const refusal = /peers-code\.json.*is required.*run `bun run bench:peers --only code` again/;
    await expect(readPeers(folder)).rejects.toThrow(refusal);
  } finally {
    await rm(folder, { recursive: true });
  }
});
