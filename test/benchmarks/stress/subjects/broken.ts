import type { Open } from "../../../../benchmarks/stress/operation";

/** Cannot be opened. */
export const open: Open = () => {
  throw new Error("the disk is full of bees");
};
