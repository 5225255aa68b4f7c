import { allocationProbe, growthProbe, idleHeapProbe, slopesProbe } from "../harness/probes";
import type { Suite } from "../harness/suite";

const subjects = new URL("../subjects/memory-process.ts", import.meta.url);

export const suite: Suite = {
  name: "memory",
  about:
    "What messages and actors allocate, and what they leave after a forced collection. Growth is that of the first 10,000 messages, code and shapes included. A slope is what each of them leaves for good, in bytes: the trend of 50 readings by Theil and Sen, with the ends of an interval of 99 %. A leak is a slope whose least is above 0.",
  rows: [
    growthProbe(subjects, "messageGrowth"),
    idleHeapProbe(subjects, "idleHeap"),
    allocationProbe("allocated by a tell", "tellAllocation", subjects, "tellAllocation"),
    allocationProbe("allocated by an ask and its reply", "askAllocation", subjects, "askAllocation"),
    allocationProbe(
      "allocated by router.ask(createMessage(…)) and its reply",
      "askAllocation",
      subjects,
      "routedAllocation",
    ),
    slopesProbe("10,000,000 messages, told and asked", { smoke: 10_000, full: 10_000_000 }, subjects, "messages"),
    slopesProbe("5,000,000 actors spawned and stopped", { smoke: 1_000, full: 5_000_000 }, subjects, "spawned"),
    slopesProbe("an hour of asks that time out, 100 a second", { smoke: 100, full: 3_600 }, subjects, "timeouts"),
    slopesProbe("a day of timers, 60 of 5 s each", { smoke: 500, full: 86_400 }, subjects, "timers"),
  ],
};
