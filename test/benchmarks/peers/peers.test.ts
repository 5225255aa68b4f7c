import { describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { definitions } from "../../../benchmarks/peers/definitions";
import { renderPeers } from "../../../benchmarks/peers/page";
import { keep, type PeerFigure, type PeerRow, ROOMS, readPeers } from "../../../benchmarks/peers/results";
import { missed, timesFloor } from "../../../benchmarks/peers/standing";
import { peerResult, peerRow } from "./sample";

const three = { envoi: 30, other: 400, mailbox: 20 };
const kinds = { mailbox: "floor" } as const;
const withRows = (...rows: readonly PeerRow[]) => peerResult(three, kinds, rows);

describe("how envoi stands:", () => {
  test("it is first where nobody comparable is ahead", () => {
    expect(missed(peerResult(three, kinds))).toEqual([]);
  });

  test("how far it is from the bare mailbox is found round by round: a busy moment of one of them counts once", () => {
    const rounds: Readonly<Record<string, number[]>> = { envoi: [30, 90, 60], mailbox: [20, 60, 20] };
    const busy = peerRow("tell", { envoi: 60, mailbox: 20 });
    const figures = busy.figures.map((each) => ({ ...each, rounds: rounds[each.peer] ?? [] })) as PeerFigure[];
    expect(timesFloor({ ...busy, figures })).toBe(1.5);
  });

  test("a peer that keeps one message at a time and lets timers fire may be ahead; that is told, and so is a distance to the mailbox", () => {
    expect(missed(withRows(peerRow("tell", { envoi: 30, other: 20, mailbox: 10 })))).toEqual([
      "tell: other is ahead of envoi.",
      "tell: envoi takes 3.00 times the bare mailbox; at most 1.6 are allowed.",
    ]);
  });

  test("a peer that overlaps messages, starves timers, or is a floor is not compared with", () => {
    for (const kind of ["less", "starves", "floor"] as const) {
      expect(missed(peerResult({ envoi: 30, other: 20 }, { other: kind }))).toEqual([
        "There is nobody to compare envoi with.",
      ]);
    }
  });

  test("a difference too small to tell is none: 3 %, or one tick of the timer", () => {
    const ahead = (own: number, other: number, changes: Partial<PeerRow> = {}) =>
      missed(withRows(peerRow("row", { envoi: own, other }, changes))).length > 0;
    expect([ahead(100, 98), ahead(100, 96)]).toEqual([false, true]);
    const ticks = { unit: "", isMoreBetter: true } as const;
    expect([ahead(39, 40, ticks), ahead(40, 12, ticks), ahead(37, 40, ticks)]).toEqual([false, false, true]);
    expect([ahead(6, 5, { unit: "ms" }), ahead(15, 5.5, { unit: "ms" })]).toEqual([false, true]);
  });

  test("a row without a figure of envoi, or whose mailbox failed, is not kept; nor is an envoi that starves timers", () => {
    const own = peerRow("ask", { other: 30, mailbox: 20 });
    const floors = peerRow("tell", { envoi: 30, other: 40 });
    const failed = { ...floors, figures: [...floors.figures, { peer: "mailbox", failed: "it died" }] };
    expect(missed(withRows(own, failed))).toEqual([
      "ask: envoi has no figure.",
      "tell: the bare mailbox failed, so nobody knows how near envoi is to it.",
    ]);
    expect(missed(peerResult(three, { envoi: "starves" }))).toEqual([
      "envoi did not keep one message at a time, or starved timers.",
    ]);
  });
});

describe("the page of peers", () => {
  const shape = { unit: "ms", isMoreBetter: false } as const;
  const gone = { peer: "other", failed: "other did not start: no such module" };
  const page = renderPeers([
    withRows(
      peerRow("tell", three),
      { ...peerRow("ask", { envoi: 1_000 }), figures: [{ peer: "envoi", none: "nobody asks" }, gone] },
      {
        table: "ended",
        row: "a loop",
        ...shape,
        figures: [{ peer: "envoi", median: 503.4, note: "with a value" }, gone],
      },
      { table: "memory", row: "a loop", ...shape, unit: "B", figures: [{ peer: "envoi", median: 71e6, min: 60e6 }] },
      { table: "race", row: "a FIFO", ...shape, unit: "", figures: [{ peer: "envoi", says: "refuses" }] },
    ),
  ]);

  test("has each figure in the table that it belongs to, and floors in italics", () => {
    expect(page).toContain("|  | envoi | other | *mailbox* |");
    expect(page).toContain("| tell | 30 ns (15 ns) | 400 ns (200 ns) | 20 ns (10 ns) |");
    expect(page).toContain("| a loop | 503 ms, with a value | failed | – |");
    expect(page).toContain("| a loop | 71 MB (60 MB) | – | – |");
    expect(page).toContain("| a FIFO | refuses | – | – |");
    expect(page).toContain("| timers fire while two actors volley | yes | yes | yes |");
  });

  test("tells once why there is no figure, what each is and lacks, and how envoi stands", () => {
    expect(page.split("other did not start")).toHaveLength(2);
    expect(page).toContain("- envoi (nobody asks): no *ask*.");
    expect(page).toContain("- **mailbox**, a floor: in process; mailbox 1.2.3.");
    expect(page).toContain("- **mailbox**: no names.");
    expect(page).toContain("where at most 1.6 are aimed at: tell 1.5.");
    expect(page).toContain("- ask: envoi has no figure.");
  });
});

test("the results in the repository have the rows that there are", async () => {
  const all = await readPeers();
  expect(all.map(({ room }) => room)).toEqual([...ROOMS]);
  for (const { room, rows, peers } of all) {
    const { candidates, timed, readings } = definitions[room];
    const due = [...timed, ...readings.flatMap((reading) => reading.rows)].map(({ row }) => row);
    expect(rows.filter(({ table }) => table === "time").map(({ row }) => row)).toEqual(due);
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

  test.each([
    ["no JSON", "{", "is no JSON"],
    ["another shape", '{ "machine": {} }', "is required"],
  ])("that are not what a room writes are refused, with the file and what to do: %s", (_, text, reason) =>
    inFolder(async (folder) => {
      await Bun.write(join(folder, "peers-code.json"), text);
      const refusal = await readPeers(folder).then(String, String);
      expect(refusal).toContain("peers-code.json");
      expect(refusal).toContain(reason);
      expect(refusal).toEndWith(
        "results of code: run `bun run bench:peers --only code` again, which writes them anew.",
      );
    }),
  );
});
