import { afterAll, expect, test } from "bun:test";
import { isOffered, processes } from "./kit";

const { tier, run } = processes();
afterAll(() => tier.dispose());

test.if(isOffered)("code gets no hold of the bytes of its channel by what it does to the language", async () => {
  const body = `const seen = [], bytes = Object.getPrototypeOf(Uint8Array.prototype);
    const see = (value) => { if (ArrayBuffer.isView(value)) seen.push(value) };
    for (const key of Reflect.ownKeys(bytes)) {
      const { get, value } = Object.getOwnPropertyDescriptor(bytes, key);
      if (get) Object.defineProperty(bytes, key, { get() { see(this); return get.call(this) } });
      else if (typeof value === "function") bytes[key] = function (...given) { see(this); return value.apply(this, given) };
    }
    Object.defineProperty(Uint8Array.prototype, "constructor", { get() { see(this); return Uint8Array } });
    Object.defineProperty(Uint8Array, Symbol.hasInstance, { value: (given) => (see(given), true) });
    Number = (given) => (see(given), given);
    console.log("said"); console.log("x".repeat(500_000)); await tools.x.y("x".repeat(200_000)); return seen.length`;
  const answer = JSON.stringify({ ok: true, value: "é".repeat(200_000) });
  const calls = { tools: '{"x":{"y":"ask"}}', call: async () => answer };
  expect(await run(body, { calls })).toMatchObject({ kind: "value", value: "0" });
});
