// The layers below the two actors, as baselines of their benchmarks. They are not part of the public API.
export { spawnCodeOver } from "./code/code-execution";
export { CodeRefusal } from "./code/code-refusal";
export { Sources } from "./code/source/sources";
export type { Ended, Isolation, Tier } from "./code/tier";
export { openTier } from "./code/tiers";
export { openRoot } from "./files/root/open-root";
export { Status } from "./files/root/root";
