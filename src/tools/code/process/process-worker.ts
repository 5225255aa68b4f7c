/**
 * The program of a process of the tier `process`. It gives up everything it can do without, then runs the orders from its
 * channel. Its imports are few, since each costs time at the start.
 */
import { type ConsoleHost, consoleOf } from "../console";
import { tableText } from "../console-table";
import { CHANNEL, linesOf, type Order, type Word } from "../pool/channel";
import { confine } from "../pool/confine";
import { type Kernel, openKernel } from "../pool/kernel";
import { describe } from "./describe";
import { display, loadDisplay } from "./display";
import { hideGlobals } from "./globals";
import { MemoryBound } from "./memory";
import { Runner } from "./runner";
import { Wire } from "./wire";

/** Milliseconds without an order before late parts are loaded. */
const IDLE = 3;

/** Rehearsals, so that a real run does nothing for the first time. */
const TIMES = 8;
/** Each rehearsal has a body of its own, as runs do. */
const rehearsal = (time: number): Order => ({
  number: -1, // No run has this number.
  file: "rehearsal.js",
  body: `console.log([{}]); return { time: ${time} }`,
  declares: [],
  timeout: 1_000,
  memory: 2 ** 40,
  maxOutput: 1_000,
  isKept: false,
});

/** Made from its text: a table may call code, such as a proxy's, whose stack must show no file of the host. */
// biome-ignore lint/security/noGlobalEval: the text is our own.
const makeConsole = globalThis.eval(
  `"use strict"; ((host) => (${consoleOf})(host, ${tableText}))\n//# sourceURL=console`,
) as (host: ConsoleHost) => ReturnType<typeof consoleOf>;

/** Reports that nothing can run here, and why. */
function refuse(reason: string): void {
  const { writeSync } = process.getBuiltinModule("node:fs");
  writeSync(CHANNEL, `${JSON.stringify(["unavailable", reason])}\n`);
}

async function serve(kernel: Kernel): Promise<void> {
  const { clearTimeout } = globalThis;
  const memory = new MemoryBound(kernel);
  let current: Runner | undefined;
  const tell = (line: string): void => wire.tell(line);
  const practise = (line: string): void => wire.practise(line);
  let idle: ReturnType<typeof setTimeout> | undefined;
  const rehearse = (time: number): void => {
    if (wire.isInWord) return; // An order is coming.
    wire.read(new TextEncoder().encode(linesOf(["run", rehearsal(time)])));
    if (time < TIMES) idle = setTimeout(rehearse, 0, time + 1);
  };
  const hear = (word: Word): void => {
    switch (word[0]) {
      case "run":
        clearTimeout(idle);
        memory.set(word[1].memory);
        current = new Runner(word[1], word[1].number < 0 ? practise : tell);
        beginConsole();
        current.begin();
        break;
      case "answer":
        current?.answer(word[1], word[2], word[3]);
        break;
      case "stop":
        if (current?.number === word[1]) current.end({ kind: "timeout", message: "" });
    }
  };
  const wire = new Wire(kernel, hear);
  // An error that no code can catch, as in a timer, ends the run. A rejection does not: it may be handled later.
  process.on("uncaughtException", (thrown) => current?.end(describe(thrown)));
  process.on("unhandledRejection", () => {});
  const { now } = performance;
  const [console, beginConsole] = makeConsole({
    show: (parts) => (current?.isOver === false ? display(parts) : ""),
    tell: (level, text) => current?.log(level, text),
    now: now.bind(performance),
  });
  Object.defineProperty(globalThis, "console", { value: console, writable: true, configurable: true });
  await wire.open();
  const held = confine(kernel); // If these are too few, the host sends nothing.
  idle = setTimeout(() => {
    loadDisplay();
    rehearse(1);
  }, IDLE);
  hideGlobals();
  tell(JSON.stringify(["ready", held]));
}

// The filter of system calls is only for x64.
const kernel = process.arch === "x64" ? openKernel() : undefined;
if (kernel === undefined) refuse(`there is none for ${process.platform} on ${process.arch}`);
else await serve(kernel);
