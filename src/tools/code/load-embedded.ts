/** The programs of the code actor's processes, as scripts/embed.ts packs them: for bundles and compiled applications alone. */
export const loadEmbedded = (): { readonly embedded: string } => require("./embedded.js");
