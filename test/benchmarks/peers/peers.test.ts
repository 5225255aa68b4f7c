import { expect, test } from "bun:test";
import { renderPeers } from "../../../benchmarks/peers/page";
import { ROOMS, readPeers } from "../../../benchmarks/peers/results";
import { rooms } from "../../../benchmarks/peers/rooms";
import { peerResult, peerRow } from "./sample";

const three = peerRow("tell", { envoi: 30, other: 400, mailbox: 20 });

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
