import { createSystem } from "../../../src/index";
import { spawnWorkers } from "../../../src/workers/index";
import { Kitchen } from "./protocols";

// A program that is made one executable. The entry of its worker lies in that, or is the file that ENTRY names.
const system = createSystem({ name: "main" });
const entry = process.env["ENTRY"] ?? new URL("./kitchen.js", import.meta.url);
try {
  const workers = await spawnWorkers(system, { entry, size: 1, as: "process", readyWithin: 60_000 });
  console.log((await workers.ref("kitchen", Kitchen).ask("cook", "soup", { timeout: 60_000 })).unwrapOr("nothing"));
} catch (error) {
  console.log(String(error));
}
await system.shutdown({ timeout: 20_000 });
