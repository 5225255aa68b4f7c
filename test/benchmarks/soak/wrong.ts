import type { OpenLoad } from "../../../benchmarks/soak/load";

/** Work that goes wrong. */
export const open: OpenLoad = () => ({
  round: () => Promise.reject(new Error("a reply was 4, not 5")),
  stop: () => Promise.resolve(),
});
