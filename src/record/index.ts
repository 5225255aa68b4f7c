export { FORMAT } from "./format";
