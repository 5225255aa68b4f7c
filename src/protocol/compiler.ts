/**
 * TypeBox's compiler. It takes 8 ms to load, so it is loaded with the first schema that is checked. This module is the compiler
 * alone; typebox/compile is four times as large. It is a file of its own because the build leaves it one (tsup.config.ts): a
 * `require` in the others would make Bun transpile all of them at each start.
 */
export const loadCompiler = (): Pick<typeof import("typebox/schema"), "Compile" | "Errors"> =>
  require("typebox/schema");
