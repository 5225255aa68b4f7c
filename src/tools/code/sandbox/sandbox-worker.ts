/** The program of a process of the sandbox: it reads orders from its channel, runs them one by one, and tells what comes of them. */
import type { Order } from "../pool/channel";
import { confine } from "../pool/confine";
import { Interpreter } from "./interpreter";
import { Port } from "./port";

const port = new Port();

/** This thread never rests in the event loop, where garbage is collected in time: left alone, 2 KB of it a run stay for long. */
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

/** Milliseconds without an order after which there is time to make those that will come quicker. */
const IDLE = 3;
/** How often a run is rehearsed then: more would take more of the processor than it spares. */
const TIMES = 30;

/**
 * Runs something before any order has come, in the time that there is until one does: an actor's first executions take
 * half as long by what the engine has compiled then. Nothing is left of it.
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
  // A first run of each kind loads what is loaded late, before the process may load no more.
  for (const body of ["return [1]", "throw new Error()"]) {
    interpreter.run({ ...REHEARSAL, body });
    await interpreter.reset();
  }
  port.tell(["ready", confine()]);
  await rehearse(interpreter);
  for (let runs = 1; ; ) {
    const word = port.read();
    // What comes for a run that has ended.
    if (word[0] !== "run") continue;
    const [, order] = word;
    // What was kept is for those that keep it.
    if (!order.isKept && !interpreter.isNew) await interpreter.reset();
    const outcome = interpreter.run(order);
    port.tell(["end", order.number, outcome]);
    if (!order.isKept) await interpreter.reset();
    else if (interpreter.isBroken) return;
    if (runs++ % RUNS_PER_COLLECTION === 0) Bun.gc(true);
  }
}

const [, , file] = process.argv;
// With the name of a file, which the build gives it: what is read at the start by those that run code.
if (file === undefined) await serve();
else await Interpreter.prepare(file);
process.exit(0);
