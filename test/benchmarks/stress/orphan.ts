/** Starts a load, says who takes part in it, and waits to be killed. */
import { descendants } from "../../../benchmarks/harness/processes";
import { startLoad } from "../../../benchmarks/stress/load";

await startLoad({ rate: 100, mix: { take: 1 }, subject: new URL("subjects/narrow.ts", import.meta.url) });
console.log(JSON.stringify(descendants(process.pid)));
await Bun.sleep(60_000);
