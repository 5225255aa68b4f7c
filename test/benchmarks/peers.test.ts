import { expect, test } from "bun:test";
import { join } from "node:path";
import { readResults } from "../../benchmarks/harness/results";
import { renderPeers } from "../../benchmarks/peers/page";
import type { PeerResult, PeerResults } from "../../benchmarks/peers/results";
import { operations } from "../../benchmarks/peers/rows";

const root = join(import.meta.dir, "../..");

const peer = (changes: Partial<PeerResult>): PeerResult => ({
  name: "good",
  how: "in process",
  packages: ["good 1.2.3"],
  rows: [{ row: "read", figure: { median: 2_514, min: 2_001, samples: 100 } }],
  race: { reads: 10_000, escapes: 0, inside: 4_000 },
  fifo: { answer: "refuses" },
  ...changes,
});

const results = (peers: readonly PeerResult[]): PeerResults => ({
  machine: { cpu: "A Processor", cores: 2, system: "Linux 6 x64", bun: "1.4.5", commit: "abc1234", date: "2026-02-03" },
  rounds: 9,
  seconds: 5,
  peers,
});

test("the page has each operation, escape and answer beside its candidate", () => {
  const other = peer({ name: "other", race: { reads: 900, escapes: 20, inside: 30 }, fifo: { answer: "hangs" } });
  const page = renderPeers(results([peer({}), other]));
  expect(page).toContain("| operation | good | other |");
  expect(page).toContain("| read | 2.51 µs (2 µs) | 2.51 µs (2 µs) |");
  expect(page).toContain("| good | 0 | 10,000 | 4,000 | 6,000 | refuses |");
  expect(page).toContain("| other | 20 | 900 | 30 | 850 | hangs |");
  expect(page).toContain("- **good**: in process; good 1.2.3.");
  expect(page).not.toContain("failed");
});

test("a candidate that failed is told as such, once for each reason; one that has no such operation is not", () => {
  const gone = { failed: "gone did not start: no such module" };
  const rows = [{ row: "read", figure: gone }];
  const lacking = peer({ name: "lacking", rows: [{ row: "read", figure: null }] });
  const page = renderPeers(results([peer({}), peer({ name: "gone", rows, race: gone, fifo: gone }), lacking]));
  expect(page).toContain("| read | 2.51 µs (2 µs) | failed | – |");
  expect(page).toContain("| gone | failed | – | – | – | failed |");
  expect(page.split("gone did not start")).toHaveLength(2);
});

test("the page in the repository is what its results give, and they are no suite of envoi's own", async () => {
  const folder = join(root, "benchmarks/results");
  const kept = (await Bun.file(join(folder, "peers-files.json")).json()) as PeerResults; // Written by the same command.
  expect(await Bun.file(join(root, "benchmarks/peers/RESULTS.md")).text()).toBe(renderPeers(kept));
  expect((await readResults(folder)).map(({ suite }) => suite)).not.toContain(undefined);
  expect(kept.peers[0]?.rows.map(({ row }) => row)).toEqual(operations.map(({ row }) => row));
});
