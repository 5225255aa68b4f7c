/**
 * The process of one candidate, which its parent drives by messages:
 * `host.ts <name> measure`, `host.ts <name> cold`, `host.ts <name> attack <attack>`.
 */
import { type CodePeer, openPeer } from "./peer";
import { attacks, operations, runTrivial } from "./rows";

const begun = performance.now();

/** What the parent asks of a process that measures. */
export interface Turn {
  readonly row: string;
  /** How long, in milliseconds. */
  readonly time: number;
  /** How many at least. */
  readonly fewest: number;
}

/** What a process tells its parent. */
export type Told =
  | { readonly kind: "opened"; readonly rows: readonly string[] }
  | { readonly kind: "samples"; readonly nanoseconds: readonly number[] }
  | { readonly kind: "failed"; readonly reason: string }
  | { readonly kind: "cold"; readonly time: number }
  | { readonly kind: "started" }
  /** The longest time so far, in milliseconds, that the 5 ms timer did not fire. */
  | { readonly kind: "beat"; readonly gap: number }
  | {
      readonly kind: "ended";
      readonly after: number;
      readonly gap: number;
      readonly how: "value" | "error";
      readonly words: string;
    }
  | { readonly kind: "usable"; readonly after: number };

const tell = (told: Told): void => {
  process.send?.(told);
};

const reasonOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));

function serve(peer: CodePeer): void {
  const measure = async ({ row, time, fewest }: Turn): Promise<void> => {
    const operation = operations.find((each) => each.row === row);
    const nanoseconds: number[] = [];
    Bun.gc(true);
    const end = performance.now() + time;
    for (let i = 0; i < fewest || performance.now() < end; i++) {
      const before = Bun.nanoseconds();
      await operation?.run(peer);
      nanoseconds.push(Bun.nanoseconds() - before);
    }
    tell({ kind: "samples", nanoseconds });
  };
  process.on("message", (turn: Turn) => {
    measure(turn).catch((thrown) => tell({ kind: "failed", reason: reasonOf(thrown) }));
  });
  const rows = operations.filter(({ isOf }) => isOf?.(peer) !== false).map(({ row }) => row);
  tell({ kind: "opened", rows });
}

/** Between two ticks of the timer, in milliseconds. */
const TICK = 5;
/** Between two words to the parent, in milliseconds. */
const BEAT = 100;

async function attack(peer: CodePeer, name: string): Promise<void> {
  const code = attacks.find((each) => each.name === name)?.code ?? "";
  // One that can do nothing would be safe from anything; and what is loaded late is there.
  for (let i = 0; i < 3; i++) await runTrivial(peer);
  tell({ kind: "started" });
  const start = performance.now();
  let last = start;
  let told = start;
  let gap = 0;
  const look = (): void => {
    const now = performance.now();
    gap = Math.max(gap, now - last);
    last = now;
    if (now - told > BEAT) {
      told = now;
      tell({ kind: "beat", gap });
    }
  };
  const timer = setInterval(look, TICK);
  let how: "value" | "error" = "value";
  let words = "";
  try {
    const { value } = await peer.run(code);
    words = String(value).slice(0, 80);
  } catch (thrown) {
    how = "error";
    words = reasonOf(thrown).slice(0, 80);
  }
  const after = performance.now() - start;
  look();
  clearInterval(timer);
  tell({ kind: "ended", after, gap, how, words });
  const again = performance.now();
  await runTrivial(peer);
  tell({ kind: "usable", after: performance.now() - again });
}

const [name = "", mode, what = ""] = process.argv.slice(2);
process.on("disconnect", () => process.exit(0)); // Nobody is there to tell.
try {
  const peer = await openPeer(name);
  if (mode === "measure") serve(peer);
  else if (mode === "attack") await attack(peer, what);
  else {
    await runTrivial(peer);
    tell({ kind: "cold", time: performance.now() - begun });
  }
} catch (thrown) {
  tell({ kind: "failed", reason: reasonOf(thrown) });
}
setInterval(() => {}, 60_000); // Its parent ends it.
