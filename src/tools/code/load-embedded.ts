/** Loads the child programs that scripts/embed.ts packed. Only bundles and compiled applications need them. */
export const loadEmbedded = (): { readonly size: number; readonly embedded: string } => require("./embedded.js");
