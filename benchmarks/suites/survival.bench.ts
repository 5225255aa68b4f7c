import { rawRestart, rawStash, rawWatch } from "../harness/floors";
import type { Floor, Prepared, Row, Suite } from "../harness/suite";
import { restart, stash, watch } from "../subjects/survival";

const OPERATIONS = 1000;

const row = (name: string, floor: Floor, setup: (operations: number) => Prepared): Row => ({
  kind: "timed",
  name,
  operations: OPERATIONS,
  per: 1,
  floor,
  setup: () => setup(OPERATIONS),
});

export const suite: Suite = {
  name: "survival",
  about: "What it costs to fail, to be told of an end, and to put messages aside.",
  rows: [
    row("restart: an ask that fails, its actor made anew", rawRestart, restart),
    row("watch: a child spawned, watched, stopped, and told of", rawWatch, watch),
    row("stash: 100 messages put aside and handled later, a message", rawStash(100), (all) => stash(all, 100)),
  ],
};
