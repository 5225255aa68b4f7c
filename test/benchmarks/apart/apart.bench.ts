/** Rows that tell where they are measured, and what ends a process. */
import { disk, makeFolder } from "../../../benchmarks/harness/places";
import type { Probe, Suite } from "../../../benchmarks/harness/suite";
import { counting, probe, row } from "../rows";

const own = (name: string, measure: Probe["measure"]): Probe =>
  probe({
    name,
    figures: [{ name: "process", unit: "", ratio: false }],
    floor: { none: "it is no figure to compare" },
    measure,
  });

const here = async () => ({ process: process.pid });

export const suite: Suite = {
  name: "apart",
  about: "",
  rows: [
    own("first", here),
    own("dies", () => {
      console.error("no more of this");
      process.exit(7);
    }),
    row({ name: "idle", setup: () => ({ ...counting(10, 0), teardown: () => Promise.reject(new Error("for that")) }) }),
    own("dies, but not what it started", () => {
      Bun.spawn(["sleep", "9"], { stdio: ["ignore", "ignore", "inherit"] });
      process.exit(7);
    }),
    own("second", here),
    own("keeps a folder", async () => {
      makeFolder(disk, `envoi-apart-${process.pid}-`);
      return here();
    }),
    own("never ends", () => {
      makeFolder(disk, `envoi-apart-of-${process.ppid}-`);
      return new Promise(() => {});
    }),
    own("leaves work behind", () => {
      const busy = () => {
        for (const end = Bun.nanoseconds() + 5e6; Bun.nanoseconds() < end; );
        setImmediate(busy);
      };
      busy();
      return here();
    }),
    own("hears nothing", () => {
      for (;;);
    }),
  ],
};
