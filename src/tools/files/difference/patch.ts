// Loaded when the first diff is asked for: a file actor that shows none need not wait for the library.
export { FILE_HEADERS_ONLY, formatPatch, type StructuredPatchHunk, structuredPatch } from "diff";
