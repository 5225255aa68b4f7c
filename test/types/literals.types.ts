import Type from "typebox";
import { createGateway } from "../../src/http";
import { type Context, createSystem, defineProtocol, type SignaturesOf, spawnPool } from "../../src/index";
import { createBehaviourKit } from "../../src/testing";

const Kind = Type.Union([Type.Literal("tea"), Type.Literal("milk")]);
const Part = Type.Union([
  Type.Object({ type: Type.Literal("text"), text: Type.String() }),
  Type.Object({ type: Type.Literal("image"), data: Type.String() }),
]);
const Shop = defineProtocol("shop", {
  one: { reply: Type.Object({ kind: Kind }) },
  parts: { payload: Type.String(), reply: Type.Array(Part) },
  late: { reply: Type.Object({ within: Type.Object({ kind: Kind }) }) },
  all: { stream: Type.Object({ kind: Kind }) },
});
declare const ctx: Context<SignaturesOf<typeof Shop>>;

/** Literals in a handler's reply are those of its schema: nobody writes `as const`. */
export function literals(): void {
  const system = createSystem();
  system.spawn("plain", Shop, () => ({
    one: () => ({ kind: "tea" }),
    parts: (text) => [
      { type: "text", text },
      { type: "image", data: "" },
    ],
    late: async () => ({ within: { kind: "milk" } }),
    async *all() {
      yield { kind: "tea" };
    },
  }));
  ctx.spawn("with-context", Shop, (own) => ({
    one() {
      own.progress(1);
      return { kind: "tea" };
    },
    parts: (text) => [{ type: "text", text }],
    async late() {
      return { within: { kind: "milk" } };
    },
    all: () => [{ kind: "tea" }],
  }));
  spawnPool(
    system,
    "pool",
    Shop,
    () => {
      return {
        one: () => ({ kind: "tea" }),
        parts: (text) => [{ type: "text", text }],
        late: () => ({ within: { kind: "milk" } }),
        all: () => [{ kind: "tea" }],
      };
    },
    { size: 2 },
  );
  createBehaviourKit(Shop, () => ({
    one: () => ({ kind: "tea" }),
    parts: (text) => [{ type: "text", text }],
    late: () => ({ within: { kind: "milk" } }),
    all: () => [{ kind: "tea" }],
  }));
  createGateway(system, {
    expose: {},
    sessions: {
      protocol: Shop,
      operations: ["one"],
      factory: (_, session) => ({
        one: () => ({ kind: "tea" }),
        parts: (text) => [{ type: "text", text: text + session.id }],
        late: () => ({ within: { kind: "milk" } }),
        all: () => [{ kind: "tea" }],
      }),
    },
  });

  system.spawn("wrong", Shop, () => ({
    // @ts-expect-error — another kind
    one: () => ({ kind: "coffee" }),
    parts: () => [],
    late: () => ({ within: { kind: "tea" } }),
    all: () => [],
  }));
}
