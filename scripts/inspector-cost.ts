/**
 * Shows what an open inspector costs: the processor time of a system with 10,000 actors under a steady load, with and without one page that looks,
 * in turns. The page is a process of its own, as a browser would be. `bun scripts/inspector-cost.ts [turns] [seconds]`
 */

import { serve } from "../src/http/index";
import { createSystem, defineProtocol, type Ref, type SignaturesOf, Type } from "../src/index";

const [turns = 6, seconds = 5] = process.argv.slice(2).map(Number);
const ACTORS = 10_000;
/** Messages in a second. */
const RATE = 50_000;

const Worker = defineProtocol("worker", { work: { payload: Type.Number(), reply: Type.Number() } });
const Boss = defineProtocol("boss", { nothing: {} });

const system = createSystem({ metrics: true });
const workers: Ref<SignaturesOf<typeof Worker>>[] = [];
for (let boss = 0; boss < 10; boss++) {
  system.spawn(`pool-${boss}`, Boss, (ctx) => {
    for (let index = 0; index < ACTORS / 10 - 1; index++) {
      workers.push(ctx.spawn(`worker-${index}`, Worker, () => ({ work: (n) => n + 1 })));
    }
    return { nothing() {} };
  });
}
const server = serve(system, { port: 0, signals: [], expose: {}, inspector: { isOpen: true } });

let handled = 0;
let next = 0;
const begun = performance.now();
/** Sends what is due by now, so that the load is the same however late the timer is. */
function load(): void {
  for (const due = ((performance.now() - begun) * RATE) / 1000; next < due; next++) {
    const worker = workers[next % workers.length];
    if (worker === undefined) continue;
    if (next % 5 > 0) worker.tell("work", next);
    else void worker.ask("work", next).then(() => handled++);
  }
}
setInterval(load, 1);

/** A page with a group open, which reads until it is ended. */
const READER = `
  const response = await fetch("${server.url}inspect/live?open=0.*/pool-*&open=0.@(pool-1)&open=0.*@(pool-1)/worker-*");
  let frames = 0;
  for await (const chunk of response.body) if (++frames === 3) console.log("open");
`;

async function openPage(): Promise<() => Promise<unknown>> {
  const reader = Bun.spawn([process.execPath, "-e", READER], { stdout: "pipe", stderr: "inherit" });
  for await (const _ of reader.stdout) break;
  return () => {
    reader.kill();
    return reader.exited;
  };
}

/** The share of one processor that this process takes for some seconds, in percent, and the messages that it handled in a second. */
async function measure(): Promise<{ readonly cpu: number; readonly rate: number }> {
  const before = { cpu: process.cpuUsage(), handled, at: performance.now() };
  await Bun.sleep(seconds * 1000);
  const { user, system: kernel } = process.cpuUsage(before.cpu);
  const elapsed = performance.now() - before.at;
  return { cpu: ((user + kernel) / 1000 / elapsed) * 100, rate: ((handled - before.handled) * 5 * 1000) / elapsed };
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

await Bun.sleep(2_000); // Until all is compiled.
const shares = { open: [] as number[], closed: [] as number[] };
for (let turn = 0; turn < turns; turn++) {
  const isOpenFirst = turn % 2 === 1;
  for (const isOpen of [isOpenFirst, !isOpenFirst]) {
    const close = isOpen ? await openPage() : null;
    const { cpu, rate } = await measure();
    await close?.();
    shares[isOpen ? "open" : "closed"].push(cpu);
    console.log(
      `${isOpen ? "open  " : "closed"}: ${cpu.toFixed(2)} % of a processor at ${Math.round(rate)} messages/s`,
    );
  }
}
const { open, closed } = shares;
const differences = open.map((share, turn) => share - (closed[turn] ?? Number.NaN));
console.log(
  `An open inspector takes, in percent of a processor: ${median(differences).toFixed(2)} (median of ${turns} differences), ` +
    `${(median(open) - median(closed)).toFixed(2)} (medians), ${(Math.min(...open) - Math.min(...closed)).toFixed(2)} (least).`,
);
process.exit(0);
