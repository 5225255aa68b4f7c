import { createSystem } from "../../../src/index";
import { spawnWorkers } from "../../../src/workers/index";
import { Kitchen } from "./protocols";

// A program that may be built: its workers' entry is then beside it under another extension.
const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
for (const as of ["thread", "process"] as const) {
  const system = createSystem({ name: "main" });
  const entry = new URL(`./kitchen.${extension}`, import.meta.url);
  const workers = await spawnWorkers(system, { entry, size: 1, as, readyWithin: 60_000 });
  console.log(as, (await workers.ref("kitchen", Kitchen).ask("cook", "soup", { timeout: 60_000 })).unwrapOr("nothing"));
  await system.shutdown({ timeout: 20_000 });
}
