import { liveHeap } from "../harness/heap";
import { canSeeProcesses, descendants, residentBytes } from "../harness/processes";
import type { OpenLoad } from "./load";

/** What the process of a soak tells of itself, one line of JSON each time. */
export interface Sample {
  /** Since it began to work. */
  readonly milliseconds: number;
  /** Completed since then. */
  readonly operations: number;
  readonly heap: number;
  readonly rss: number;
  /** RSS of the processes that it has started. */
  readonly processes: number;
}

async function run(module: string, duration: number, interval: number): Promise<void> {
  const { open }: { readonly open: OpenLoad } = await import(module); // That of `soak`, or of a test.
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  process.on("SIGTERM", end);
  process.on("SIGINT", end); // Ctrl-C reaches all processes of a terminal.
  process.stdin.once("end", end).resume(); // Whoever started it is gone.
  const load = await open();
  try {
    const start = performance.now();
    let operations = 0;
    const tell = () => {
      const processes = canSeeProcesses ? descendants(process.pid) : [];
      const sample: Sample = {
        milliseconds: performance.now() - start,
        operations,
        heap: liveHeap(),
        rss: process.memoryUsage.rss(),
        processes: processes.reduce((sum, pid) => sum + residentBytes(pid), 0),
      };
      console.log(JSON.stringify(sample));
    };
    for (let next = interval; !isOver && next <= duration; next += interval) {
      while (!isOver && performance.now() - start < next) operations += await load.round();
      tell();
    }
  } finally {
    await load.stop();
  }
}

const [module = "", duration = "", interval = ""] = process.argv.slice(2);
await run(module, Number(duration), Number(interval));
process.exit(0); // Nothing that it may have left behind keeps it.
