import { do_not_optimize } from "mitata";
import { counted, type Declared, type Most, probe, suiteOf, timed, withRatio } from "../harness/rows";
import type { Floor } from "../harness/suite";
import { flood, misfits, notices, rawRoundTrip, requests, roundTrip, strays, taken, unknown } from "../subjects/rpc";

/** The floor of each row: its texts, parsed. */
const parsed = (texts: readonly string[]): Floor => ({
  name: "JSON.parse",
  about: "`JSON.parse` of the same texts",
  varies: true,
  setup(operations) {
    const { length } = texts;
    return counted(() => {
      for (let index = 0; index < operations; index++) {
        try {
          do_not_optimize(JSON.parse(texts[index % length] as string)); // There are some.
        } catch {} // Some are no JSON.
      }
      return operations;
    });
  },
});

const row = (name: string, texts: readonly string[], answers: string | null, most: Most): Declared =>
  timed(name, parsed(texts), (operations) => taken(operations, texts, answers), most, { warmUp: 30 });

const TAKEN = "the method finds the schema, which checks once; a message to its actor costs what a door's does";
const ANSWERED = "an ask with its timeout and its cancellation, and the text of the answer, come on top";
const REFUSED = "a flood of what is wrong must not cost more than what is right";

export const suite = suiteOf(
  "rpc",
  "Messages of JSON-RPC, like those of an editor and its agent, over parsing them: decoded, checked by their schema, handed to an actor, and answered.",
  [
    row("notification: decode, validate, handle", notices, null, [2.1, 1.5, TAKEN]),
    row("request: decode, validate, handle, answer", requests, '"result":{"stopReason":"end_turn"}', [3, 2, ANSWERED]),
    row("refused: params that do not fit", misfits, '"code":-32602', [4.5, 3, REFUSED]),
    row("refused: a method that is not there", unknown, '"code":-32601', [3, 1.5, REFUSED]),
    row("refused: JSON that is no message", strays, '"code":-32600', [3, 1.5, REFUSED]),
    row("a flood: all that can be wrong, and each hundredth right", flood, '"jsonrpc":"2.0"', [3, 2, REFUSED]),
    probe(
      "round trip in one process",
      withRatio("µs", "median"),
      {
        name: "raw round trip",
        measure: async (scale) => ({ median: await rawRoundTrip(scale === "full" ? 50_000 : 2_000) }),
      },
      async (scale) => ({ median: await roundTrip(scale === "full" ? 50_000 : 2_000) }),
      [
        [
          "median",
          "atMost",
          4.7,
          3,
          "both ways are written, parsed, checked and timed; the pair of the best known library takes 11.5",
        ],
      ],
    ),
  ],
);
