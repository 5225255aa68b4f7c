import { do_not_optimize } from "mitata";
import { counted, type Declared, figures, type Most, probe, slowSteps, suiteOf, timed } from "../harness/rows";
import { Completion, type Floor } from "../harness/suite";
import { type Kind, longOf, takenBy, texts, toldBy, turns, updated, updateOf } from "../subjects/acp";
import { startsOf } from "../subjects/installation";

const MOST = 1_000;
/** A floor that does something with each of a thousand values. */
const each = (name: string, about: string, work: (index: number) => unknown): Floor => ({
  name,
  about,
  varies: true,
  setup: (operations) =>
    counted(() => {
      for (let index = 0; index < operations; index++) do_not_optimize(work(index % MOST));
      return operations;
    }),
});

/** Texts that the peer takes, until the last was handled, or refused by an answer. */
function taken(name: string, kind: Kind, most: Most): Declared {
  const all = texts[kind];
  const floor = each("JSON.parse", "`JSON.parse` of the same texts", (index) => JSON.parse(all[index] ?? ""));
  const isRefused = kind.endsWith("wrong");
  return timed(
    name,
    floor,
    (operations) => {
      const completion = new Completion();
      const { take, refused, close } = takenBy("full", completion.arrive);
      const run = async () => {
        const done = completion.expect(operations);
        for (let index = 0; index < operations; index++) take(all[index % MOST] ?? "");
        await done;
      };
      const verify = () => {
        const due = isRefused ? completion.completed() : 0;
        if (refused() !== due) throw new Error(`${refused()} messages were refused, where ${due} were wrong`);
      };
      return { run, completed: completion.completed, verify, teardown: close };
    },
    most,
    { warmUp: 30 },
  );
}

const ready = Array.from({ length: MOST }, (_, index) => updateOf(index));
const notice = (update: object) => ({ jsonrpc: "2.0", method: "session/update", params: updated(update) });

export const suite = suiteOf(
  "acp",
  [
    "The Agent Client Protocol over parsing its messages: each is decoded, checked by the official schema and handed to an actor; what an",
    "agent tells is written; a turn goes from an agent to its client; and the start of an agent, to its first answer, as it is published.",
  ].join("\n"),
  [
    probe(
      'import "envoi/acp", to the answer of initialize',
      figures("ms", "time", "bare Bun", "over bare Bun"),
      "an empty file is started in turns with it, which is its figure *bare Bun*",
      (scale) => startsOf("agent", { smoke: 1, full: 15 }[scale]),
      [
        [
          "over bare Bun",
          "atMost",
          48,
          20,
          "an editor starts its agent when somebody waits; the core's own start is most of it",
        ],
      ],
    ),
    taken("update: decode, validate, handle", "mixed", [2.4, 1.5, "a client reads thousands in a turn"]),
    taken("update of 100 tokens: decode, validate, handle", "long", [2.5, 1.5, "most of a turn consists of these"]),
    taken("refused: a prompt that does not fit", "mixed, wrong", [
      8.4,
      3,
      "optional parts that are wrong are looked for and left out, as the protocol wants",
    ]),
    timed(
      "update: write",
      each("JSON.stringify", "`JSON.stringify` of the same messages", (index) =>
        JSON.stringify(notice(ready[index] ?? {})),
      ),
      (operations) => {
        let [told, length] = [0, 0];
        const { tell, close } = toldBy((text) => {
          told++;
          length += (text as string).length;
        });
        const run = () => {
          for (let index = 0; index < operations; index++) tell(ready[index % MOST] ?? {});
        };
        const verify = () => {
          if (length < told * 100) throw new Error("the texts were too short");
        };
        return { run, completed: () => told, verify, teardown: close };
      },
      "what is told is checked by who reads it",
    ),
    timed(
      "a turn of 1,000 updates of 100 tokens, from an agent to its client, for each",
      each("by hand", "written and parsed", (index) => JSON.parse(JSON.stringify(notice(longOf(index))))),
      async (operations) => {
        const { turn, close } = await turns();
        return slowSteps(operations, async () => (await turn(MOST)) === MOST, { teardown: close }, MOST);
      },
      "both ends are actors, and each item is bounded by what its reader has taken",
    ),
  ],
);
