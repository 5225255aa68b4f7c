export { createLink, type Link, type LinkOptions } from "./link";
export { mayHaveBegun } from "./sending";
