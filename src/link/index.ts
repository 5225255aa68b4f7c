export { createLink, type Link, type LinkOptions } from "./link";
