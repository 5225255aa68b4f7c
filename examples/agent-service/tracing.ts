import { context } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { type ReadableSpan, type SpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import type { System } from "envoi";
import type { GatewayOptions } from "envoi/http";
import { SCOPE, trace, traceRequests } from "envoi/telemetry";

/** How the service is traced. */
export interface Tracing {
  /** Makes spans of the messages of a system. */
  follow(system: System): void;
  /** Makes spans of requests. */
  readonly around: NonNullable<GatewayOptions["around"]>;
}

/**
 * Shows the trace of each message to the agent as a tree, once all of its spans have ended. Elsewhere, a `BatchSpanProcessor` with an
 * exporter stands in the place of `Trees`.
 */
export function tracing(show: (tree: string) => void): Tracing {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const tracer = new TracerProvider({ spanProcessors: [new Trees(show)] }).getTracer(SCOPE);
  return { follow: (system) => void trace(system, { tracer }), around: traceRequests({ tracer }) };
}

/** The spans of one trace, and how many of them have not ended. */
interface Growing {
  open: number;
  readonly spans: ReadableSpan[];
}

/** Traces that are kept: most requests send the agent nothing. */
const MOST = 200;

class Trees implements SpanProcessor {
  readonly #growing = new Map<string, Growing>();
  readonly #show: (tree: string) => void;

  constructor(show: (tree: string) => void) {
    this.#show = show;
  }

  onStart(span: { spanContext(): { traceId: string } }): void {
    const { traceId } = span.spanContext();
    const growing = this.#growing.get(traceId) ?? { open: 0, spans: [] };
    growing.open++;
    this.#growing.set(traceId, growing);
  }

  onEnd(span: ReadableSpan): void {
    const { traceId } = span.spanContext();
    const growing = this.#growing.get(traceId);
    if (growing === undefined) return;
    growing.spans.push(span);
    growing.open--;
    // A request may have been answered before the agent begins with its message.
    const isWhole = growing.open === 0 && growing.spans.some(({ name }) => name.startsWith("process agent."));
    if (isWhole) this.#show(treeOf(growing.spans));
    if (isWhole) this.#growing.delete(traceId);
    else if (this.#growing.size > MOST) this.#growing.delete(this.#growing.keys().next().value ?? traceId);
  }

  async forceFlush(): Promise<void> {}
  async shutdown(): Promise<void> {}
}

/** Spans as a tree, each below its parent in the order in which they began, with their milliseconds. */
export function treeOf(spans: readonly ReadableSpan[]): string {
  const lines: string[] = [];
  const known = new Set(spans.map((span) => span.spanContext().spanId));
  const byStart = spans.toSorted((a, b) => a.startTime[0] - b.startTime[0] || a.startTime[1] - b.startTime[1]);
  const below = (parent: string | undefined): readonly ReadableSpan[] =>
    byStart.filter(({ parentSpanContext: of }) => {
      const id = of !== undefined && known.has(of.spanId) ? of.spanId : undefined;
      return id === parent;
    });
  const add = (span: ReadableSpan, before: string, mark: string, indent: string): void => {
    const { name, duration, status } = span;
    const time = (duration[0] * 1000 + duration[1] / 1e6).toFixed(1);
    lines.push(`${before}${mark}${name} (${time} ms)${status.code === 2 ? ` failed: ${status.message ?? ""}` : ""}`);
    const children = below(span.spanContext().spanId);
    for (const [index, child] of children.entries()) {
      const isLast = index === children.length - 1;
      add(child, before + indent, isLast ? "└─ " : "├─ ", isLast ? "   " : "│  ");
    }
  };
  for (const root of below(undefined)) add(root, "", "", "");
  return lines.join("\n");
}
