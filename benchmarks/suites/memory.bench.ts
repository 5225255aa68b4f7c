import { growthProbe, idleHeapProbe } from "../harness/probes";
import type { Suite } from "../harness/suite";

const subjects = new URL("../subjects/process.ts", import.meta.url);

export const suite: Suite = {
  name: "memory",
  about:
    "What actors and messages leave on the heap after a forced collection. Growth is that of the first 10,000 messages, code and shapes included; the slope is bytes a message over 20 times as many after them.",
  rows: [growthProbe(subjects, "messageGrowth"), idleHeapProbe(subjects, "idleHeap")],
};
