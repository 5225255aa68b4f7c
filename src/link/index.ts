export { type Binary, Bytes, transfer } from "./bytes";
export { mayHaveBegun } from "./died";
export { createLink, type Link, type LinkOptions } from "./link";

export type { Versions } from "./versions";
