import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type AskResult, defineProtocol, Type } from "envoi";
import { spawnFileSystem } from "envoi/tools";
import { letters } from "../../harness/file-samples";
import { type FaultPlan, type MakeTrouble, subjectOf, TIMEOUT } from "./trouble";

const Disk = defineProtocol("disk", { write: { payload: Type.Number(), reply: Type.Number() } });
/** What the disk takes for each write, in milliseconds. */
const SLOW = 50;
/** Writes that wait for it. */
const CAPACITY = 40;
const FILES = 16;
const BYTES = 100;

export const fault: FaultPlan = {
  name: "a slow disk",
  about:
    "Each write takes 50 ms, so that a fifth of them can be done in time; 40 may wait, and a client waits for a second.",
  rate: 200,
  mix: { write: 1, ask: 1 },
  allowed: { write: ["mailbox-full", "timeout"] },
  module: import.meta.url,
};

const make: MakeTrouble = ({ system, folder }) => {
  const root = join(folder, "files");
  mkdirSync(root);
  const files = spawnFileSystem(system, { root });
  const content = letters(BYTES, 0);
  let delay = 0;
  let slowed = 0;
  let written = 0;
  let told = 0;
  const disk = system.spawn(
    "disk",
    Disk,
    (ctx) => ({
      async write(number) {
        if (delay > 0) {
          slowed++;
          await Bun.sleep(delay);
        }
        const answer = await ctx.ask(files, "write", { path: `file-${number % FILES}.txt`, content, inPlace: true });
        if (!(answer.isOk() && answer.value.ok)) return 0; // Who asked has given up.
        written++;
        return answer.value.value.size;
      },
    }),
    { capacity: CAPACITY },
  );
  return {
    operations: {
      async write(number) {
        const answer: AskResult<number> = await disk.ask("write", number, { timeout: TIMEOUT });
        if (answer.isErr()) return answer.error.kind;
        told++;
        return answer.value === BYTES ? number : "wrong";
      },
    },
    begin() {
      delay = SLOW;
    },
    end() {
      delay = 0;
    },
    happened: () => ({ "slow writes": slowed }),
    complaints: () => (told > written ? [`${told} writes were told, and ${written} were done.`] : []),
  };
};

export const open = subjectOf(make);
