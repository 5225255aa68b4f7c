export { createLink, type Link, type LinkOptions } from "./link";
export { mayHaveBegun } from "./sending";
export type { Versions } from "./versions";
