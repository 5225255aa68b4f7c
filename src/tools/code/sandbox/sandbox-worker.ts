/** The program of a sandbox process: it reads orders from its channel, runs them one by one and reports the outcomes. */
import type { Order } from "../pool/channel";
import { confine } from "../pool/confine";
import { Interpreter } from "./interpreter";
import { Port } from "./port";

const port = new Port();

/** This thread never rests in the event loop, where garbage is collected. Unless it is forced, each run leaves 2 KB for long. */
const RUNS_PER_COLLECTION = 1_000;

const REHEARSAL: Omit<Order, "body"> = {
  number: 0,
  file: "rehearsal.js",
  declares: [],
  timeout: 1_000,
  memory: 64 * 1024 * 1024,
  maxOutput: 1_000,
  isKept: false,
};

/** Milliseconds without an order before rehearsals begin. */
const IDLE = 3;
/** Rehearsals. More would take more processor time than they spare. */
const TIMES = 30;

/**
 * Runs a sample program until the first order comes. The engine compiles meanwhile, so an actor's first executions take
 * half as long. Nothing is left of these runs.
 */
async function rehearse(interpreter: Interpreter): Promise<void> {
  const body =
    "const list = input.map((n) => ({ n, text: String(n) })); await null; return list.reduce((sum, { n }) => sum + n, 0)";
  for (let time = 0; time < TIMES && !port.hears(time === 0 ? IDLE : 0); time++) {
    interpreter.run({ ...REHEARSAL, body, input: "[1, 2, 3]" });
    await interpreter.reset();
  }
}

async function serve(): Promise<void> {
  let interpreter: Interpreter;
  try {
    interpreter = await Interpreter.create(port);
  } catch (thrown) {
    return port.tell(["unavailable", thrown instanceof Error ? thrown.message : String(thrown)]);
  }
  // A first run of each kind loads everything that is loaded late, before the process is confined and may load no more.
  for (const body of ["return [1]", "throw new Error()"]) {
    interpreter.run({ ...REHEARSAL, body });
    await interpreter.reset();
  }
  port.tell(["ready", confine()]);
  await rehearse(interpreter);
  for (let runs = 1; ; ) {
    const word = port.read();
    // Any other word is for a run that has ended.
    if (word[0] !== "run") continue;
    const [, order] = word;
    // Only runs that keep their state see the state that was kept.
    if (!order.isKept && !interpreter.isNew) await interpreter.reset();
    const outcome = interpreter.run(order);
    port.tell(["end", order.number, outcome]);
    if (!order.isKept) await interpreter.reset();
    else if (interpreter.isBroken) return;
    if (runs++ % RUNS_PER_COLLECTION === 0) Bun.gc(true);
  }
}

const [, , file] = process.argv;
// The build gives the name of a file: write the snapshot there that processes read at their start.
if (file === undefined) await serve();
else await Interpreter.prepare(file);
process.exit(0);
