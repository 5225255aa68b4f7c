import { describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { renderPeers } from "../../../benchmarks/peers/page";
import { keep, ROOMS, readPeers } from "../../../benchmarks/peers/results";
import { rooms } from "../../../benchmarks/peers/rooms";
import { standingsOf, timesFloor } from "../../../benchmarks/peers/standing";
import { type Kind, peerResult, peerRow } from "./sample";

const three = { envoi: 30, other: 400, mailbox: 20 };
const kinds = { mailbox: "floor" } as const;

test("a peer is ahead by more than 3 %, and one that overlaps messages or starves timers does less; a floor is no peer", () => {
  const standing = (other: number, kind?: Kind) => {
    const [{ isBehind, less } = {}] = standingsOf(peerResult({ envoi: 100, other }, kind && { other: kind }));
    return [isBehind, less?.peer];
  };
  expect([standing(98), standing(96)]).toEqual([
    [false, undefined],
    [true, undefined],
  ]);
  for (const kind of ["less", "starves"] as const) expect(standing(50, kind)).toEqual([false, "other"]);
  expect(standing(50, "floor")).toEqual([false, undefined]);
});

test("how far envoi is from the bare mailbox is found round by round: a busy moment of one of them counts once", () => {
  const figures = [
    { peer: "envoi", median: 60, rounds: [30, 90, 60] },
    { peer: "mailbox", median: 20, rounds: [20, 60, 20] },
  ];
  expect(timesFloor({ ...peerRow("tell", {}), figures })).toBe(1.5);
});

test("the page has each figure in its table, why one is missing, what each is, and how envoi stands", () => {
  const gone = { peer: "other", failed: "other did not start: no such module" };
  const attack = { row: "a loop", unit: "ns" } as const;
  const page = renderPeers([
    peerResult(three, kinds, [
      peerRow("tell", three),
      { ...peerRow("ask", {}), figures: [{ peer: "envoi", none: "nobody asks" }, gone] },
      { table: "ended", ...attack, figures: [{ peer: "envoi", median: 503.4e6, note: "with a value" }, gone] },
      { table: "race", row: "a FIFO", unit: "", figures: [{ peer: "envoi", says: "refuses" }] },
      { table: "race", row: "reads", unit: "", figures: [{ peer: "envoi", median: 281_040 }] },
    ]),
  ]);
  expect(page).toContain("|  | envoi | other | *mailbox* |");
  expect(page).toContain("| tell | 30 ns (15 ns) | 400 ns (200 ns) | 20 ns (10 ns) |");
  expect(page).toContain("| a loop | 503 ms, with a value | failed | – |");
  expect(page).toContain("| a FIFO | refuses | – | – |\n| reads | 281,040 | – | – |");
  expect(page).toContain("| timers fire while two actors volley | yes | yes | yes |");
  expect(page.split("other did not start")).toHaveLength(2);
  expect(page).toContain("- envoi (nobody asks): no *ask*.");
  expect(page).toContain("- **mailbox**, a floor: in process; mailbox 1.2.3.");
  expect(page).toContain("and more are bold: tell 1.5.");
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

describe("results", () => {
  const inFolder = async (work: (folder: string) => Promise<void>) => {
    const folder = await mkdtemp(join(tmpdir(), "envoi-peers-results-"));
    await work(folder).finally(() => rm(folder, { recursive: true }));
  };

  test("are read as they were kept, those of rooms that were measured", () =>
    inFolder(async (folder) => {
      await keep(folder, peerResult(three, kinds));
      expect(await readPeers(folder)).toEqual([peerResult(three, kinds)]);
    }));

  test("that are not what a room writes are refused, with the file and what to do", () =>
    inFolder(async (folder) => {
      await Bun.write(join(folder, "peers-code.json"), '{ "machine": {} }');
      const refusal = await readPeers(folder).then(String, String);
      expect(refusal).toMatch(/peers-code\.json.*is required.*run `bun run bench:peers --only code` again/);
    }));
});
