import { describe, expect, test } from "bun:test";
import { renderActors } from "../../benchmarks/peers/actors/page";
import type { ActorPeerResult, ActorPeerResults, ActorRowResult } from "../../benchmarks/peers/actors/results";
import { missed, standings } from "../../benchmarks/peers/actors/standing";

const machine = {
  cpu: "A Processor",
  cores: 2,
  system: "Linux 6 x64",
  bun: "1.4.5",
  commit: "abc1234",
  date: "2026-02-03",
};

const peer = (name: string, changes: Partial<ActorPeerResult> = {}): ActorPeerResult => ({
  name,
  how: "in process",
  packages: [`${name} 1.2.3`],
  isFloor: false,
  lacks: [],
  keepsOneAtATime: true,
  yieldsToTimers: true,
  leaves: 10_000,
  checks: [{ check: "an ask times out", outcome: true }],
  ...changes,
});

const row = (
  name: string,
  medians: Readonly<Record<string, number>>,
  changes: Partial<ActorRowResult> = {},
): ActorRowResult => ({
  row: name,
  unit: "ns",
  isMoreBetter: false,
  figures: Object.entries(medians).map(([each, median]) => ({
    peer: each,
    median,
    min: median / 2,
    samples: 90,
    rounds: [median / 2, median, median],
  })),
  ...changes,
});

const floor = peer("mailbox", { isFloor: true, packages: [], yieldsToTimers: false });
const results = (peers: ActorPeerResult[], rows: ActorRowResult[]): ActorPeerResults => ({
  machine,
  rounds: 9,
  peers,
  rows,
});

const three = [peer("envoi"), peer("other"), floor];

describe("how envoi stands:", () => {
  test("it is first where nobody comparable is ahead, and so many times the bare mailbox", () => {
    const all = results(three, [row("tell", { envoi: 30, other: 400, mailbox: 20 })]);
    expect(standings(all)).toEqual([{ row: "tell", behind: [], ratio: 1.5 }]);
    expect(missed(all)).toEqual([]);
  });

  test("how far it is from the bare mailbox is found round by round: a busy moment of one of them counts once", () => {
    const busy = { ...row("tell", { envoi: 60, mailbox: 20 }) };
    const rounds: Readonly<Record<string, number[]>> = { envoi: [30, 90, 60], mailbox: [20, 60, 20] };
    const figures = busy.figures.map((each) => ({ ...each, rounds: rounds[each.peer] ?? [] }));
    expect(standings(results(three, [{ ...busy, figures }]))).toMatchObject([{ ratio: 1.5 }]);
  });

  test("who keeps one message at a time and lets timers fire may be ahead; that is told, and so is who is too far from the mailbox", () => {
    const all = results(three, [row("tell", { envoi: 30, other: 20, mailbox: 10 })]);
    expect(missed(all)).toEqual([
      "tell: other is ahead of envoi.",
      "tell: envoi takes 3.00 times the bare mailbox; at most 1.6 are allowed.",
    ]);
  });

  test("whoever overlaps messages, starves timers, or is a floor is not compared with", () => {
    for (const changes of [{ keepsOneAtATime: false }, { yieldsToTimers: false }, { isFloor: true }]) {
      const all = results([peer("envoi"), peer("other", changes)], [row("tell", { envoi: 30, other: 20 })]);
      expect(missed(all)).toEqual(["There is nobody to compare envoi with."]);
    }
  });

  test("a difference too small to tell is none: 3 %, or one tick of the timer", () => {
    const ahead = (own: number, other: number, changes: Partial<ActorRowResult>) =>
      missed(results(three, [row("row", { envoi: own, other }, changes)])).length > 0;
    expect([ahead(100, 98, {}), ahead(100, 96, {})]).toEqual([false, true]);
    const ticks = { unit: "", isMoreBetter: true } as const;
    expect([ahead(39, 40, ticks), ahead(40, 12, ticks), ahead(37, 40, ticks)]).toEqual([false, false, true]);
    const gap = { unit: "ms" } as const;
    expect([ahead(6, 5, gap), ahead(15, 5.5, gap)]).toEqual([false, true]);
  });

  test("beside a mailbox that starves it, a timer is no multiple of anything", () => {
    const all = results(three, [row("ticks", { envoi: 39, mailbox: 1 }, { unit: "", isMoreBetter: true })]);
    expect(standings(all)).toEqual([{ row: "ticks", behind: [], ratio: undefined }]);
  });

  test("a row without a figure of envoi, or whose mailbox failed, is not kept", () => {
    const failed = (name: string) => ({ peer: name, failed: "it died" });
    const own = row("ask", { other: 30, mailbox: 20 });
    const floors = row("tell", { envoi: 30, other: 40 });
    const all = results(three, [
      { ...own, figures: [...own.figures, failed("envoi")] },
      { ...floors, figures: [...floors.figures, failed("mailbox")] },
    ]);
    expect(missed(all)).toEqual([
      "ask: envoi has no figure.",
      "tell: the bare mailbox failed, so nobody knows how near envoi is to it.",
    ]);
  });

  test("an envoi that overlapped messages or starved timers stands nowhere", () => {
    const all = results(
      [peer("envoi", { yieldsToTimers: false }), peer("other")],
      [row("tell", { envoi: 1, other: 2 })],
    );
    expect(missed(all)).toEqual(["envoi did not keep one message at a time, or starved timers."]);
  });
});

describe("the page of the actors", () => {
  const lacking = peer("loose", {
    keepsOneAtATime: false,
    lacks: ["an ask has no timeout"],
    checks: [{ check: "an ask times out", outcome: false }],
  });
  const gone = { failed: "gone did not start: no such module" };
  const absent = peer("gone", { keepsOneAtATime: false, checks: [{ check: "an ask times out", outcome: gone }] });
  const muted = peer("mute", { checks: [{ check: "an ask times out", outcome: { none: "it has no ask" } }] });
  const figures = [
    ...row("tell", { envoi: 30.04, loose: 1_204 }).figures,
    { peer: "gone", ...gone },
    { peer: "mute", none: "nobody would" },
  ];
  const page = renderActors(
    results(
      [peer("envoi"), lacking, absent, muted],
      [{ ...row("tell", {}), figures }, row("heap", { envoi: 418, loose: 2_840 }, { unit: "B" })],
    ),
  );

  test("has each figure beside its peer, and says why there is none", () => {
    expect(page).toContain("|  | envoi | loose | gone | mute |");
    expect(page).toContain("| tell | 30 ns (15 ns) | 1.2 µs (602 ns) | failed | – |");
    expect(page).toContain("| heap | 418 B | 2,840 B | – | – |");
    expect(page.split("gone did not start")).toHaveLength(2);
    expect(page).toContain("- mute has no *tell*: nobody would.");
    expect(page).toContain("- **loose**: in process; loose 1.2.3.");
  });

  test("says once what a peer lacks at several rows for one reason", () => {
    const none = [{ peer: "envoi", none: "nobody would" }];
    const lacking = renderActors(
      results(
        [peer("envoi")],
        [
          { ...row("tell", {}), figures: none },
          { ...row("ask", {}), figures: none },
        ],
      ),
    );
    expect(lacking).toContain("- envoi has no *tell*, *ask*: nobody would.");
  });

  test("says what each does and does not do, as it was found", () => {
    expect(page).toContain("| an ask times out | yes | **no** | failed | – |");
    expect(page).toContain("- **loose**: an ask has no timeout.");
    expect(page).toContain("- **envoi**: nothing of the above.");
    expect(page).toContain("- *an ask times out* says nothing of mute: it has no ask.");
  });

  test("says how envoi stands, and where it misses", () => {
    expect(page).toContain(
      "It is first in 2 of 2 rows among those that keep one message at a time and let timers fire (envoi, mute).",
    );
    const behind = renderActors(results(three, [row("tell", { envoi: 30, other: 20, mailbox: 10 })]));
    expect(behind).toContain("It is first in 0 of 1 rows");
    expect(behind).toContain("tell 3.");
    expect(behind).toContain("- tell: other is ahead of envoi.");
  });

  test("tells how many leaves a skynet had where they differ", () => {
    expect(page).toContain("The skynets have 10,000 leaves.");
    const few = renderActors(results([peer("envoi"), peer("small", { leaves: 1_000 })], []));
    expect(few).toContain("The skynets have so many leaves: envoi 10,000, small 1,000.");
  });
});
