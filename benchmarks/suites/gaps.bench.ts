import { apart, type Declared, figures, needing, probe, suiteOf } from "../harness/rows";
import { GAP, WORST_GAP } from "../harness/timer";
import { whyNot } from "../subjects/code";

const MODULE = new URL("../subjects/gaps.ts", import.meta.url).href;

const REASON = "no request, however large, holds the event loop: 10 ms, and 5 until the timer is due (P5)";

const gap = (name: string, subject: string): Declared =>
  probe(
    name,
    figures("ms", GAP, WORST_GAP),
    "a gap is held against what a user bears, and not against other work",
    apart(MODULE, subject, { smoke: 2, full: 100 }),
    [[GAP, "atMost", 15, 10, REASON]],
    { rounds: 1 }, // Each has the request five times.
  );

export const suite = suiteOf(
  "gaps",
  "How long a timer of 5 ms waits beside one request at the limits of the files' and the code's actors, in milliseconds that the main thread ran: what other processes have of the processor is not counted. Each request is made five times; what is the actors' own is there each time, and what the collector of garbage does now and then is shown by the most.",
  [
    gap("write of 10 MB, letters of three bytes", "write"),
    gap("edit of a text of 4 million line ends", "edit"),
    gap("search of 10 MB: 10,000 matches, 40 lines around each", "searchWithLinesAround"),
    gap("delete of a directory of 30,000 files", "remove"),
    gap("list of 10,000 entries", "list"),
    gap("read of 1 GB as a stream", "readStream"),
    ...needing(await whyNot("sandbox"), [
      gap("run with an input of 130,000 values, 1 MB", "codeInput"),
      gap("run of a source of 8,000 lines, 64 KB", "codeSource"),
    ]),
  ],
);
