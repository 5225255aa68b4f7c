import { inFreshProcess } from "../harness/fresh-process";
import { timerProbe } from "../harness/probes";
import type { Probe, Scale } from "../harness/suite";

const MODULE = new URL("files-process.ts", import.meta.url);
const SIZES: Readonly<Record<Scale, number>> = { smoke: 100, full: 2_000 };

const NO_LIKE = "bare calls do not let a timer run at all";

const share: Probe = {
  kind: "probe",
  name: "a read of 100 B without its system calls",
  figures: [
    { name: "own share by router", unit: "ns", ratio: false },
    { name: "own share by ref", unit: "ns", ratio: false },
    { name: "system calls", unit: "ns", ratio: false },
  ],
  floor: {
    none: "it is what is left of one: a read less openat, fstat, pread and close, made by the same root in turns",
  },
  measure: (scale) => inFreshProcess(MODULE, "ownShare", { smoke: 2, full: 100 }[scale]),
};

const search: Probe = {
  kind: "probe",
  name: "search of 2,000 files of 2 KB for a text that is in 20",
  figures: [
    { name: "time", unit: "ms", ratio: true },
    { name: "gap", unit: "ms", ratio: false },
  ],
  floor: {
    name: "open, read, close, indexOf",
    measure: (scale) => inFreshProcess(MODULE, "searchByLoop", SIZES[scale]),
  },
  measure: (scale) => inFreshProcess(MODULE, "searchFiles", SIZES[scale]),
};

/** What is measured of the file actor that is no loop. */
export const filesProbes: readonly Probe[] = [
  share,
  search,
  timerProbe(
    "5 ms timer while a file of 1 GB is read, for 200 ms or to its end",
    "MB read",
    NO_LIKE,
    MODULE,
    "timerBesideLargeRead",
  ),
  timerProbe("5 ms timer while 10,000 entries are listed for 200 ms", "lists", NO_LIKE, MODULE, "timerBesideLists"),
];
