import type { Open } from "../../../../benchmarks/stress/subject";

/** Cannot be opened. */
export const open: Open = () => {
  throw new Error("the disk is full of bees");
};
