import { context, type Span, SpanStatusCode, type Tracer } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  InMemorySpanExporter,
  type ReadableSpan,
  type Sampler,
  SimpleSpanProcessor,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { SCOPE } from "../../src/telemetry/index";

/** The real SDK, with what it exported. */
export interface Traced {
  readonly tracer: Tracer;
  /** The spans that have ended, in this order. */
  spans(): readonly ReadableSpan[];
  /** The only span of this name that has ended. */
  span(name: string): ReadableSpan;
  /** All that ended, as trees: two spaces for each level. */
  tree(): string[];
  /** The spans that were started and have not ended. */
  readonly open: ReadonlySet<unknown>;
}

/** Installs OpenTelemetry's context manager, once for the process. */
export function installContextManager(): void {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
}

/** A provider whose spans are kept. It fails where a span ends twice. */
export function traced(sampler?: Sampler): Traced {
  const exporter = new InMemorySpanExporter();
  const open = new Set<unknown>();
  const provider = new TracerProvider({
    ...(sampler !== undefined && { sampler }),
    spanProcessors: [
      {
        onStart: (span: Span) => void open.add(span),
        onEnd(span: unknown) {
          if (!open.delete(span)) throw new Error("a span ended twice");
        },
        forceFlush: async () => undefined,
        shutdown: async () => undefined,
      },
      new SimpleSpanProcessor({ exporter }),
    ],
  });
  const spans = () => exporter.getFinishedSpans();
  return {
    tracer: provider.getTracer(SCOPE),
    spans,
    open,
    span(name) {
      const found = spans().filter((span) => span.name === name);
      const [first] = found;
      if (first === undefined || found.length > 1) throw new Error(`${found.length} spans are called ${name}`);
      return first;
    },
    tree: () => treeOf(spans()),
  };
}

/** Spans as trees, each below its parent in the order in which they began. Those whose parent is elsewhere have its id. */
export function treeOf(spans: readonly ReadableSpan[]): string[] {
  const known = new Set(spans.map((span) => span.spanContext().spanId));
  const lines: string[] = [];
  const add = (span: ReadableSpan, depth: number): void => {
    const { status, parentSpanContext } = span;
    const isOrphan = parentSpanContext !== undefined && !known.has(parentSpanContext.spanId);
    const failed = status.code === SpanStatusCode.ERROR ? `: ${status.message}` : "";
    const below = isOrphan ? ` (below ${parentSpanContext.spanId})` : "";
    lines.push(`${"  ".repeat(depth)}${span.name}${failed}${below}`);
    for (const each of spans) if (each.parentSpanContext?.spanId === span.spanContext().spanId) add(each, depth + 1);
  };
  const byStart = [...spans].sort((a, b) => a.startTime[0] - b.startTime[0] || a.startTime[1] - b.startTime[1]);
  for (const span of byStart) {
    const parent = span.parentSpanContext?.spanId;
    if (parent === undefined || !known.has(parent)) add(span, 0);
  }
  return lines;
}
