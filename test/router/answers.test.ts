import { expect, test } from "bun:test";
import { z } from "zod";
import {
  createErrorResponse,
  createResponse,
  defineProtocol,
  drop,
  expose,
  parseMessage,
  type StandardSchemaV1,
  Type,
} from "../../src/index";
import { testSystems } from "../actor/test-system";

const { createTestSystem } = testSystems();

const throwing: StandardSchemaV1<string> = {
  "~standard": {
    version: 1,
    vendor: "test",
    validate() {
      throw new Error("hunter2 in a schema");
    },
  },
};

const Cities = defineProtocol("cities", {
  find: { payload: Type.String(), reply: Type.String() },
  deep: { payload: Type.String(), reply: Type.String() },
  odd: { payload: throwing, reply: Type.String() },
  late: { payload: z.string().transform(async (text) => text), reply: Type.String() },
});

test("P18: what a stranger is answered tells nothing that the inside threw, and what its author exposed", async () => {
  const { system, router, takeLog } = createTestSystem();
  const inner = system.spawn("inner/hunter2", Cities, () => ({
    find: () => {
      throw new Error("hunter2 in the inner actor");
    },
    deep: () => "",
    odd: () => "",
    late: () => "",
  }));
  system.spawn("cities", Cities, (ctx) => ({
    find(name) {
      if (name === "Oz") throw expose(new Error("There is no such city."));
      if (name === "?") throw new Error("hunter2 in the handler");
      return name === "away" ? ctx.forward(inner) : name;
    },
    async deep(name) {
      const found = await ctx.ask(inner, "find", name);
      if (found.isErr()) throw found.error;
      return found.value;
    },
    odd: (text) => text,
    late: (text) => text,
  }));
  router.use((message, next) => (message.payload === "drop" ? drop("hunter2 in an interceptor") : next()));
  const answer = async (type: string, payload: unknown): Promise<string> => {
    const message = parseMessage({
      id: "1",
      pattern: "ask",
      to: "@(cities)",
      type,
      payload,
      timestamp: 0,
    })._unsafeUnwrap();
    const reply = await router.ask(message);
    const response = reply.match(
      (value) => createResponse(message, value),
      (error) => createErrorResponse(message, error),
    );
    expect(JSON.stringify(response)).not.toContain("hunter2");
    return response.ok ? String(response.payload) : response.error.message;
  };
  const failed = (type: string): string => `"${type}" to @(cities) failed in its handler.`;
  expect(await answer("find", "Ys")).toBe("Ys");
  expect(await answer("find", "Oz")).toBe("There is no such city.");
  expect(await answer("find", "?")).toBe(failed("find"));
  expect(await answer("find", "away")).toBe(failed("find"));
  expect(await answer("deep", "?")).toBe(failed("deep"));
  expect(await answer("find", 7)).toBe(
    '"find" to @(cities) has a payload that is refused: the payload must be a string.',
  );
  for (const type of ["odd", "late"]) {
    const refused = `"${type}" to @(cities) has a payload that is refused: the payload cannot be checked.`;
    expect(await answer(type, "x")).toBe(refused);
  }
  expect(await answer("find", "drop")).toBe('"find" to @(cities) was given up before its reply came.');
  takeLog();
});
