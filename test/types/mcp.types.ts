import { type AnyRef, type AskError, createSystem, defineProtocol, type Result, type System, Type } from "../../src";
import { connectMcp, serveMcp, type ToolError } from "../../src/mcp";
import { resultOf } from "../../src/tools";
import { type Equal, expectType } from "./expect";

const Counter = defineProtocol("counter", { add: { payload: Type.Number() }, total: { reply: Type.Number() } });
const about = { name: "counter", version: "1.0.0" };

export async function exposed(system: System, any: AnyRef, names: string[]): Promise<void> {
  const ref = createSystem().spawn("counter", Counter, () => ({ add() {}, total: () => 1 }));
  await serveMcp(system, about);
  await serveMcp(system, { ...about, expose: {} });
  await serveMcp(system, { ...about, expose: { counter: { ref, operations: ["add", "total"] } } });
  await serveMcp(system, {
    ...about,
    expose: { counter: { ref, operations: { add: true, total: { name: "sum", title: "Sum" } } } },
    limits: { time: 1_000 },
  });
  // What only run time knows.
  await serveMcp(system, { ...about, expose: { counter: { ref, operations: names } } });
  await serveMcp(system, { ...about, expose: { any: { ref: any, operations: ["anything"] } } });

  // @ts-expect-error — a misspelt operation
  await serveMcp(system, { ...about, expose: { counter: { ref, operations: ["ad"] } } });
  // @ts-expect-error — a misspelt operation beside one that there is
  await serveMcp(system, { ...about, expose: { counter: { ref, operations: ["add", "totl"] } } });
  // @ts-expect-error — a misspelt operation in a record
  await serveMcp(system, { ...about, expose: { counter: { ref, operations: { ad: true } } } });
  // @ts-expect-error — false exposes nothing: leave it out
  await serveMcp(system, { ...about, expose: { counter: { ref, operations: { add: false } } } });
}

export async function used(system: System): Promise<void> {
  const remote = await connectMcp(system, { name: "counter", url: "http://127.0.0.1/mcp" });
  const sum = resultOf(await remote.ref.ask("counter_total"));
  expectType<Equal<typeof sum, Result<unknown, ToolError | AskError>>>();
  await serveMcp(system, { ...about, expose: { again: { ref: remote.ref, operations: ["counter_total"] } } });
}
