export { type Binary, Bytes, transfer } from "./bytes";
export { mayHaveBegun } from "./died";
export { MAX_DEPTH, writePart } from "./frames";
export { createLink, type Link } from "./link";
export type { LinkOptions } from "./options";
export { toldAsRefused } from "./told";
export { type Versions, withVersions } from "./versions";
