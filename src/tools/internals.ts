// What stands below the two actors, for the floors of their benchmarks: no part of the contract, and not on the public face.
export { spawnCodeOver } from "./code/code-execution";
export { CodeRefusal } from "./code/code-refusal";
export { Sources } from "./code/source/sources";
export type { Ended, Isolation, Tier } from "./code/tier";
export { openTier } from "./code/tiers";
export { openRoot } from "./files/root/open-root";
export { Status } from "./files/root/root";
