/** Runs twice in a room, and leaves it open: nothing but the room could keep this alive. */
import { poolOf, valuesIn } from "../kit";

const count = "globalThis.n = (globalThis.n ?? 0) + 1; return globalThis.n";
console.log(JSON.stringify(await valuesIn(poolOf().open(1e8), count, count)));
