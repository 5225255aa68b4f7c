import { createSystem } from "../../../src/index";
import { spawnWorkers } from "../../../src/workers/index";
import { Kitchen, Log, Reaper } from "./protocols";

// A program whose one worker, a process, computes in a loop. It prints the id of that process once it does.
const system = createSystem({ name: "main" });
const log = system.spawn("log", Log, () => ({
  note: (text) => console.log(text),
  notes: () => [],
}));
const workers = await spawnWorkers(system, {
  entry: new URL("./kitchen.ts", import.meta.url),
  size: 1,
  as: "process",
  exposes: { log },
  readyWithin: 60_000,
  heartbeatLimit: Number.POSITIVE_INFINITY,
});
await workers.ref("kitchen", Kitchen).ask("cook", 1);
workers.ref("reaper", Reaper).tell("die", "loop");
