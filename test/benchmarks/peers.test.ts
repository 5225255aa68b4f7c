import { describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readResults } from "../../benchmarks/harness/results";
import type { AttackResult, CodePeerResult, CodePeerResults } from "../../benchmarks/peers/code/results";
import { attacks, COLD_START, operations as runs } from "../../benchmarks/peers/code/rows";
import type { FilePeerResult, FilePeerResults } from "../../benchmarks/peers/files/results";
import { operations } from "../../benchmarks/peers/files/rows";
import { readPeers, renderPeers } from "../../benchmarks/peers/page";

const root = join(import.meta.dir, "../..");

const peer = (changes: Partial<FilePeerResult>): FilePeerResult => ({
  name: "good",
  how: "in process",
  packages: ["good 1.2.3"],
  rows: [{ row: "read", figure: { median: 2_514, min: 2_001, samples: 100 } }],
  race: { reads: 10_000, escapes: 0, inside: 4_000 },
  fifo: { answer: "refuses" },
  ...changes,
});

const machine = {
  cpu: "A Processor",
  cores: 2,
  system: "Linux 6 x64",
  bun: "1.4.5",
  commit: "abc1234",
  date: "2026-02-03",
};

const results = (peers: FilePeerResult[]): FilePeerResults => ({ machine, rounds: 9, seconds: 5, peers });

const coder = (name: string, outcome: AttackResult["outcome"]): CodePeerResult => ({
  name,
  how: "in a worker",
  packages: [`${name} 3.2.1`],
  rows: [{ row: "a trivial run", figure: { median: 250_400, min: 199_600, samples: 50 } }],
  attacks: [{ attack: "a loop", outcome }],
});

const good = coder("coder", {
  after: 503.4,
  how: "error",
  gap: 6.02,
  memory: { before: 60e6, peak: 71e6 },
  usable: 1.21,
  busy: 0.02,
});

const codeResults = (peers: CodePeerResult[]): CodePeerResults => ({
  machine,
  rounds: 9,
  limits: { timeout: 500, memory: 64e6 },
  patience: 10_000,
  peers,
});

const pageOf = (...peers: FilePeerResult[]): string =>
  renderPeers({ actors: undefined, files: results(peers), code: codeResults([good]) });
const codePageOf = (...peers: CodePeerResult[]): string =>
  renderPeers({ actors: undefined, files: results([peer({})]), code: codeResults(peers) });

test("the page has each operation, escape and answer beside its candidate", () => {
  const other = peer({ name: "other", race: { reads: 900, escapes: 20, inside: 30 }, fifo: { answer: "hangs" } });
  const page = pageOf(peer({}), other);
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
  const page = pageOf(peer({}), peer({ name: "gone", rows, race: gone, fifo: gone }), lacking);
  expect(page).toContain("| read | 2.51 µs (2 µs) | failed | – |");
  expect(page).toContain("| gone | failed | – | – | – | failed |");
  expect(page.split("gone did not start")).toHaveLength(2);
});

test("the page has each time, and what became of each attack, beside its candidate", () => {
  const page = codePageOf(good, coder("loud", { ...outcomeOf(good), after: 7, how: "value", busy: 1.02 }));
  expect(page).toContain("| operation | coder | loud |");
  expect(page).toContain("| a trivial run | 250 µs (200 µs) | 250 µs (200 µs) |");
  expect(page).toContain("| a loop | 503 ms | 7 ms, with a value |");
  expect(page).toContain("| a loop | 6.02 ms | 6.02 ms |");
  expect(page).toContain("| a loop | 71 MB (60 MB) | 71 MB (60 MB) |");
  expect(page).toContain("| a loop | 1.21 ms | 1.21 ms; 1.02 of a processor still at work |");
  expect(page).toContain("where 500 ms and 64 MB were the limits");
});

test("a candidate that did not answer under attack, or whose process died, or that failed, is told as such", () => {
  const lost = { after: null, gap: 10_000, memory: null, usable: null, busy: null };
  const page = codePageOf(
    coder("stuck", { ...lost, how: "killed" }),
    coder("dead", { ...lost, how: "died" }),
    coder("gone", { failed: "gone did not start: no such module" }),
  );
  expect(page).toContain("| a loop | not in 10 s | its process died | failed |");
  expect(page).toContain("| a loop | 10 s | 10 s | failed |");
  expect(page).toContain("| a loop | – | – | failed |");
  expect(page).toContain("| a loop | no | no | failed |");
  expect(page.split("gone did not start")).toHaveLength(2);
});

function outcomeOf({ attacks: [first] }: CodePeerResult) {
  if (first === undefined || "failed" in first.outcome) throw new Error("there is one");
  return first.outcome;
}

test("what was not measured yet has no part on the page", () => {
  const page = renderPeers({ actors: undefined, files: results([peer({})]), code: undefined });
  expect(page).toContain("## Files");
  expect(page).not.toContain("## Code");
  expect(page).not.toContain("## Actors");
});

test("the page in the repository is what its results give, and they are no suite of envoi's own", async () => {
  const peers = await readPeers();
  expect(await Bun.file(join(root, "benchmarks/peers/RESULTS.md")).text()).toBe(renderPeers(peers));
  expect((await readResults(join(root, "benchmarks/results"))).map(({ suite }) => suite)).not.toContain(undefined);
  expect(peers.files?.peers[0]?.rows.map(({ row }) => row)).toEqual(operations.map(({ row }) => row));
  expect(peers.code?.peers[0]?.rows.map(({ row }) => row)).toEqual([...runs.map(({ row }) => row), COLD_START]);
  expect(peers.code?.peers[0]?.attacks.map(({ attack }) => attack)).toEqual(attacks.map(({ name }) => name));
});

describe("results that are not what a room writes are refused, with the file and what to do:", () => {
  for (const [what, text, reason] of [
    ["no JSON", "{", "is no JSON"],
    ["another shape", '{ "machine": {} }', "is required"],
  ] as const) {
    test(what, async () => {
      const folder = await mkdtemp(join(tmpdir(), "envoi-peers-results-"));
      try {
        await Bun.write(join(folder, "peers-code.json"), text);
        const refusal = await readPeers(folder).then(String, String);
        expect(refusal).toContain("peers-code.json");
        expect(refusal).toContain(reason);
        expect(refusal).toEndWith(
          "results of code: run `bun run bench:peers --only code` again, which writes them anew.",
        );
      } finally {
        await rm(folder, { recursive: true });
      }
    });
  }
});
