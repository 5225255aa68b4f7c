import { type Authenticate, createGateway, type GatewayOptions } from "../../../src/http/index";
import type { TestSystem } from "../../actor/test-system";
import { Counter, createCounter } from "../counter";

/** A gateway to a counter, on a clock that the test moves. */
export function createService(test: TestSystem, options: Partial<Omit<GatewayOptions, "expose">> = {}) {
  const ref = test.system.spawn("counter", Counter, createCounter);
  const operations = ["add", "total", "told", "fail", "never", "reset", "ticks"] as const;
  return createGateway(test.system, { expose: { counter: { ref, operations } }, ...options });
}

/** Takes the header `x-user` for the caller. */
export const byName: Authenticate = ({ headers }) => {
  const id = headers.get("x-user");
  return id === null ? undefined : { id };
};

/** A server whose peers have the address that they say. */
export const peers = {
  requestIP: ({ headers }: Request) => ({ address: headers.get("x-peer") ?? "10.0.0.1", family: "IPv4", port: 1 }),
};
