import { type TraceContext, traceContext } from "../../index";

/** The trace context of a request, if it has one that is well formed. Several headers `traceparent` come as one with commas, and are none. */
export function traceContextOf(headers: Headers): TraceContext | undefined {
  const traceparent = headers.get("traceparent");
  return traceparent === null ? undefined : traceContext(traceparent, headers.get("tracestate"));
}
