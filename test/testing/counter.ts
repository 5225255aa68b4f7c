import { type Context, defineProtocol, type Factory, type SignaturesOf, Type } from "../../src/index";

export const Log = defineProtocol("log", {
  write: { payload: Type.String() },
  lines: { reply: Type.Number() },
  tail: { payload: Type.Number(), stream: Type.String() },
});
export const Counter = defineProtocol("counter", {
  add: { payload: Type.Number() },
  total: { reply: Type.Number() },
  later: { payload: Type.Number(), reply: Type.Number() },
  ticks: { payload: Type.Number(), stream: Type.Number() },
});
export type Counting = SignaturesOf<typeof Counter>;

/** A factory of a counter, some of whose handlers are a test's own. */
export const counting =
  (own: (ctx: Context<Counting>) => Partial<ReturnType<Factory<Counting>>> = () => ({})): Factory<Counting> =>
  (ctx) => {
    let total = 0;
    return {
      add(n) {
        if (n < 0) throw new Error(`cannot add ${n}`);
        total += n;
      },
      total: () => total,
      async later(n) {
        await null;
        total += n;
        return total;
      },
      *ticks(n) {
        for (let i = 1; i <= n; i++) yield total + i;
      },
      ...own(ctx),
    };
  };
