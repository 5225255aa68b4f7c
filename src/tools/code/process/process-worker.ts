/**
 * The program of a process of the tier `process`: it gives up all that it can do without, and then runs what its channel
 * brings. Its imports are few, since each costs time at the start.
 */
import { CHANNEL, type Order, type Word } from "../pool/channel";
import { confine } from "../pool/confine";
import { type Kernel, openKernel } from "../pool/kernel";
import { setConsole } from "./console";
import { describe } from "./describe";
import { loadDisplay } from "./display";
import { hideGlobals } from "./globals";
import { MemoryBound } from "./memory";
import { Runner } from "./runner";
import { Wire } from "./wire";

/** Milliseconds without an order after which there is time to load what is loaded late. */
const IDLE = 3;

/** A first run takes 0.6 ms, one after it 0.2: what it does is then not done for the first time. */
const REHEARSAL: Order = {
  number: -1, // Which no run has.
  file: "rehearsal.js",
  body: "console.log([{}]); return 1",
  declares: [],
  timeout: 1_000,
  memory: 2 ** 40,
  maxOutput: 1_000,
  isKept: false,
};

/** Tells that nothing can run here, and why. */
function refuse(reason: string): void {
  const { writeSync } = process.getBuiltinModule("node:fs");
  writeSync(CHANNEL, `${JSON.stringify(["unavailable", reason])}\n`);
}

async function serve(kernel: Kernel): Promise<void> {
  const { clearTimeout } = globalThis;
  const memory = new MemoryBound(kernel);
  let current: Runner | undefined;
  const tell = (line: string): void => wire.tell(line);
  const hear = (word: Word): void => {
    switch (word[0]) {
      case "run":
        clearTimeout(idle);
        memory.set(word[1].memory);
        current = new Runner(word[1], word[1].number === REHEARSAL.number ? () => {} : tell);
        current.begin();
        break;
      case "answer":
        current?.answer(word[1], word[2], word[3]);
        break;
      case "stop":
        if (current?.number === word[1]) current.end({ kind: "timeout", message: "" });
    }
  };
  const wire = new Wire(kernel, (word) => hear(word as Word)); // The host's own.
  // What is thrown where nobody can catch it, as in a timer, ends the run; a promise may be looked at later.
  process.on("uncaughtException", (thrown) => current?.end(describe(thrown)));
  process.on("unhandledRejection", () => {});
  setConsole((level, parts) => current?.log(level, parts));
  await wire.open();
  const held = confine(kernel); // Where they are too few, the host sends nothing.
  const idle = setTimeout(() => {
    loadDisplay();
    wire.read(new TextEncoder().encode(`${JSON.stringify(["run", REHEARSAL])}\n`));
  }, IDLE);
  hideGlobals();
  tell(JSON.stringify(["ready", held]));
}

// The filter of system calls is of x64.
const kernel = process.arch === "x64" ? openKernel() : undefined;
if (kernel === undefined) refuse(`there is none for ${process.platform} on ${process.arch}`);
else await serve(kernel);
