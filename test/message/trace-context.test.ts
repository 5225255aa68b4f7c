import { expect, test } from "bun:test";
import { traceOf } from "../../src/index";

const TRACE = { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", tracestate: "vendor=1" };

test("the trace among metadata is what is well formed of it, and nothing else", () => {
  expect(traceOf({ ...TRACE, user: "Ada", baggage: "user=ada" })).toEqual(TRACE);
  expect(traceOf({ traceparent: TRACE.traceparent, tracestate: "no" })).toEqual({ traceparent: TRACE.traceparent });
  expect(traceOf({ traceparent: TRACE.traceparent.replace("00-", "cc-") })).toEqual({
    traceparent: TRACE.traceparent,
  });
});

test("P18: anything else has none: no object, no text, a state alone, a trace that is not well formed", () => {
  const bad = [
    undefined,
    null,
    7,
    "text",
    [],
    {},
    { tracestate: "vendor=1" },
    { traceparent: 7 },
    { traceparent: "00" },
  ];
  const zero = { traceparent: `00-${"0".repeat(32)}-b7ad6b7169203331-01` };
  const two = { traceparent: `${TRACE.traceparent}, ${TRACE.traceparent}` };
  for (const given of [...bad, zero, two]) expect(traceOf(given)).toBeUndefined();
});
