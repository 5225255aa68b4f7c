import { figures, type Most, probe, suiteOf, timed } from "../harness/rows";
import type { Readings, Scale } from "../harness/suite";
import { asks, asksAtOnce, echo, ends, flood, items, posts, tells } from "../subjects/workers";
import type { Form } from "../subjects/workers/bare-sides";

/** In pieces, since the kernel changes the pace of two threads within a round. Both sides do some ten thousand asks first. */
const WARM = { pieces: 3, operations: 50, warmUp: 200 };
const MANY = { pieces: 3, operations: 1_024, warmUp: 40 };

interface Limits {
  readonly ask: Most;
  readonly atOnce: Most;
  readonly tell: Most;
  readonly item: Most;
}

const rowsOf = (as: Form, { ask, atOnce, tell, item }: Limits) => [
  timed(`${as}: an ask`, echo(as, 1), (all) => asks(all, as), ask, WARM),
  timed(`${as}: an ask, 64 in flight`, echo(as, 64), (all) => asksAtOnce(all, 64, as), atOnce, MANY),
  timed(`${as}: a tell`, posts(as), (all) => tells(all, as), tell, MANY),
  timed(`${as}: an item of a stream, credit 256`, flood(as), (all) => items(all, as, 256), item, MANY),
];

const ENDS = figures("ms", "told", "told at most", "bare", "there again", "bare start");

const endsOf = (as: Form, how: string) =>
  probe(
    `${as} ended by ${how}, with 100 asks that wait`,
    ENDS,
    "it is its figures *bare*",
    (scale: Scale): Promise<Readings> => ends(as, { smoke: 1, full: 12 }[scale]),
    [["told", "atMost", 10, 5, "what waits is told as soon as the engine tells the end"]],
    { rounds: 1 },
  );

const ASK = "the two threads wait for each other, and JSON is written and read twice";
const AT_ONCE = "they go as one text, both ways, whereas bare texts go one by one";
const TELL = "all that leaves in a turn goes as one text";
const ITEM = "its reader pushes back; a bare flood does not wait for anybody";

export const suite = suiteOf(
  "workers",
  [
    "Actors in a thread and in a process of their own, beside the same bytes by `postMessage` (threads) and by Bun's IPC (processes), in turns. Both sides are warm.",
    "Orders of some 50 bytes are sent, validated on their way in, and counted on the other side. *Told* is the time from the end of a worker (kill -9 of a process, `process.exit` in",
    "a thread) until the last of a hundred asks that wait for it has failed as `unreachable`; *bare* is that until the engine tells the end of a bare worker.",
    "*There again* is the time until its successor has answered, a backoff of 1 ms included; *bare start* is that of a bare worker until its first word.",
  ].join("\n"),
  [
    ...rowsOf("thread", {
      ask: [2, 1.5, ASK],
      atOnce: [4, 2, AT_ONCE],
      tell: [1.3, 0.8, TELL],
      item: [2, 1, ITEM],
    }),
    ...rowsOf("process", {
      ask: [2, 1.5, ASK],
      atOnce: [4, 2, AT_ONCE],
      tell: [1.3, 0.8, TELL],
      item: [2, 1, ITEM],
    }),
    endsOf("process", "kill -9"),
    endsOf("thread", "its own exit"),
  ],
);
