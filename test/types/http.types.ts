import { type AnyRef, createSystem, defineProtocol, type RefTo, type System, Type } from "../../src";
import { type Authenticate, createGateway, type Gateway, type GatewayOptions, serve } from "../../src/http";
import { expectType } from "./expect";

const Counter = defineProtocol("counter", {
  add: { payload: Type.Number(), reply: Type.Number() },
  total: { reply: Type.Number() },
  ticks: { payload: Type.Number(), stream: Type.Number() },
});

export function exposed(system: System, counter: RefTo<typeof Counter>, any: AnyRef, names: string[]): void {
  const gateway = createGateway(system, { expose: { counter: { ref: counter, operations: ["add", "ticks"] } } });
  expectType<
    typeof gateway extends Gateway<{ readonly counter: { readonly ref: RefTo<typeof Counter> } }> ? true : false
  >();
  createGateway(system, { expose: {} });
  createGateway(system, { expose: { counter: { ref: counter, operations: [] } } });
  createGateway(system, {
    expose: {
      counter: { ref: counter, operations: { add: true, ticks: { resume: { for: 1_000, items: 10, bytes: 1_000 } } } },
      plain: { ref: counter, operations: { ticks: true } },
      written: { ref: counter, operations: { ticks: { format: "ai-sdk" } } },
    },
  });
  // What only run time knows.
  createGateway(system, { expose: { counter: { ref: counter, operations: names } } });
  createGateway(system, { expose: { any: { ref: any, operations: ["anything"] } } });

  // @ts-expect-error — a misspelt operation
  createGateway(system, { expose: { counter: { ref: counter, operations: ["ad"] } } });
  // @ts-expect-error — a misspelt operation beside one that there is
  createGateway(system, { expose: { counter: { ref: counter, operations: ["add", "totl"] } } });
  // @ts-expect-error — a misspelt operation in a record
  createGateway(system, { expose: { counter: { ref: counter, operations: { ad: true } } } });
  // @ts-expect-error — false exposes nothing: leave it out
  createGateway(system, { expose: { counter: { ref: counter, operations: { add: false } } } });
  // @ts-expect-error — options of a stream for an ask
  createGateway(system, { expose: { counter: { ref: counter, operations: { add: { format: "sse" } } } } });
  // @ts-expect-error — no such format
  createGateway(system, { expose: { counter: { ref: counter, operations: { ticks: { format: "csv" } } } } });
  // @ts-expect-error — a misspelt option of a stream
  createGateway(system, { expose: { counter: { ref: counter, operations: { ticks: { reusme: {} } } } } });
  // @ts-expect-error — a misspelt option of resume
  createGateway(system, { expose: { counter: { ref: counter, operations: { ticks: { resume: { fro: 1 } } } } } });
  // @ts-expect-error — no reference
  createGateway(system, { expose: { counter: { ref: Counter, operations: ["add"] } } });
  // @ts-expect-error — no operations
  createGateway(system, { expose: { counter: { ref: counter } } });
  // @ts-expect-error — a bare reference
  createGateway(system, { expose: { counter } });
  // @ts-expect-error — nothing is said of what is exposed
  createGateway(system, {});
  // @ts-expect-error — a misspelt option
  createGateway(system, { expose: {}, authenticat: () => undefined });
  // @ts-expect-error — a misspelt limit
  createGateway(system, { expose: {}, limits: { boddy: 5 } });
  // @ts-expect-error — a caller has an id
  createGateway(system, { expose: {}, authenticate: () => ({ name: "ada" }) });
  // @ts-expect-error — CORS needs origins
  createGateway(system, { expose: {}, cors: {} });
  // @ts-expect-error — the same holds for serve
  serve(system, { port: 0, expose: { counter: { ref: counter, operations: ["ad"] } } });
  // @ts-expect-error — a port is a number
  serve(system, { port: "3000", expose: {} });
  // @ts-expect-error — no such signal
  serve(system, { signals: ["SIGTREM"], expose: {} });
}

export const authenticate: Authenticate = async ({ headers }) =>
  headers.get("x-user") === "ada" ? { id: "ada", metadata: { role: "owner" } } : undefined;
export const options: GatewayOptions = { expose: {}, authenticate, limits: { body: 1_000 } };
export const gateway: Gateway<unknown> = createGateway(createSystem(), options);
