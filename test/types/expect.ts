/** Whether two types are the same one, not only assignable to each other. */
export type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Compiles when the type is `true`: `expectType<Equal<A, B>>()`. */
export const expectType = <_Holds extends true>(): void => {};
