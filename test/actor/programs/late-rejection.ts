import { test } from "bun:test";
import { inNestedLoop } from "../nested-loop";

// Fails by an unhandled rejection, which its runner reports: stream-late-end.test.ts expects that.
test("a promise that takes over a rejected one", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  promise.catch(() => undefined);
  await inNestedLoop(() => resolve(Promise.reject(new Error("heard too late"))));
});
