/**
 * TypeBox's compiler, loaded when the first schema is: it takes 8 ms, which who checks nothing need not wait for. Of TypeBox it
 * is the compiler alone, since typebox/compile is four times as much.
 */
export const loadCompiler = (): Pick<typeof import("typebox/schema"), "Compile" | "Errors"> =>
  require("typebox/schema");
