import { join } from "node:path";
import { loadSync, type Type } from "protobufjs";

const root = loadSync(join(import.meta.dir, "proto/otlp.proto"));
const READ = {
  "/v1/traces": root.lookupType("opentelemetry.proto.ExportTraceServiceRequest"),
  "/v1/metrics": root.lookupType("opentelemetry.proto.ExportMetricsServiceRequest"),
} satisfies Record<string, Type>;

/** A span as it came over the wire. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Undefined for the first one of a trace. */
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly kind: string;
  readonly status: string;
  readonly message: string | undefined;
  readonly start: bigint;
  readonly end: bigint;
  readonly attributes: Attributes;
}

type Attributes = Readonly<Record<string, unknown>>;

/** The values of one metric. */
export interface ReceivedMetric {
  readonly name: string;
  readonly unit: string;
  readonly type: "gauge" | "sum" | "histogram";
  readonly isMonotonic: boolean;
  readonly temporality: string | undefined;
  readonly points: readonly (Attributes & { readonly value: unknown })[];
}

/** A receiver of OTLP over HTTP, which reads its protobuf. */
export class Receiver implements Disposable {
  readonly spans: ReceivedSpan[] = [];
  readonly metrics: ReceivedMetric[] = [];
  readonly resources: Attributes[] = [];
  /** Requests that came, also those that were refused. */
  requests = 0;
  /** Answers a request in place of the receiver. */
  refuse: (() => Response | Promise<Response>) | undefined;
  readonly #server: Bun.Server<undefined>;
  /** Tells those who wait that more has come. */
  #come = Promise.withResolvers<void>();

  constructor() {
    this.#server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: (request) => this.#take(request) });
  }

  /** The address for a kind of exporter. */
  url(kind: "traces" | "metrics"): string {
    return new URL(`v1/${kind}`, this.#server.url).href;
  }

  /** Waits until so many spans have come. */
  async hasSpans(count: number): Promise<void> {
    while (this.spans.length < count) await this.#come.promise;
  }

  async #take(request: Request): Promise<Response> {
    this.requests++;
    if (this.refuse !== undefined) return this.refuse();
    const path = new URL(request.url).pathname;
    if (path !== "/v1/traces" && path !== "/v1/metrics") return new Response(null, { status: 404 });
    if (request.headers.get("content-type") !== "application/x-protobuf") return new Response(null, { status: 415 });
    const sent = new Uint8Array(await request.arrayBuffer());
    const bytes = request.headers.get("content-encoding") === "gzip" ? Bun.gunzipSync(sent) : sent;
    const type = READ[path];
    const message = type.toObject(type.decode(bytes), { longs: String, enums: String, bytes: String });
    if (path === "/v1/traces")
      this.#takeSpans(message as TraceRequest); // The schema's form.
    else this.#takeMetrics(message as MetricsRequest);
    this.#come.resolve();
    this.#come = Promise.withResolvers();
    return new Response(new Uint8Array(), { headers: { "content-type": "application/x-protobuf" } });
  }

  #takeSpans({ resourceSpans = [] }: TraceRequest): void {
    for (const { resource, scopeSpans = [] } of resourceSpans) {
      this.resources.push(read(resource?.attributes));
      for (const { spans = [] } of scopeSpans) {
        for (const span of spans) {
          this.spans.push({
            traceId: hex(span.traceId),
            spanId: hex(span.spanId),
            parentSpanId: span.parentSpanId ? hex(span.parentSpanId) : undefined,
            name: span.name,
            kind: span.kind.replace("SPAN_KIND_", ""),
            status: (span.status?.code ?? "STATUS_CODE_UNSET").replace("STATUS_CODE_", ""),
            message: span.status?.message,
            start: BigInt(span.startTimeUnixNano),
            end: BigInt(span.endTimeUnixNano),
            attributes: read(span.attributes),
          });
        }
      }
    }
  }

  #takeMetrics({ resourceMetrics = [] }: MetricsRequest): void {
    for (const { scopeMetrics = [] } of resourceMetrics) {
      for (const { name, unit, gauge, sum, histogram } of scopeMetrics.flatMap(({ metrics = [] }) => metrics)) {
        const data = gauge ?? sum ?? histogram;
        this.metrics.push({
          name,
          unit,
          type: gauge ? "gauge" : sum ? "sum" : "histogram",
          isMonotonic: sum?.isMonotonic === true,
          temporality: data?.aggregationTemporality?.replace("AGGREGATION_TEMPORALITY_", ""),
          points: (data?.dataPoints ?? []).map(({ attributes, asDouble, asInt, ...rest }) => ({
            ...read(attributes),
            value: asDouble ?? (asInt === undefined ? rest : Number(asInt)),
          })),
        });
      }
    }
  }

  [Symbol.dispose](): void {
    void this.#server.stop(true);
  }
}

interface KeyValue {
  readonly key: string;
  readonly value?: Readonly<Record<string, unknown>>;
}

interface TraceRequest {
  readonly resourceSpans?: readonly {
    readonly resource?: { readonly attributes?: readonly KeyValue[] };
    readonly scopeSpans?: readonly {
      readonly spans?: readonly {
        readonly traceId: string;
        readonly spanId: string;
        readonly parentSpanId?: string;
        readonly name: string;
        readonly kind: string;
        readonly status?: { readonly code?: string; readonly message?: string };
        readonly startTimeUnixNano: string;
        readonly endTimeUnixNano: string;
        readonly attributes?: readonly KeyValue[];
      }[];
    }[];
  }[];
}

interface Points {
  readonly aggregationTemporality?: string;
  readonly isMonotonic?: boolean;
  readonly dataPoints?: readonly {
    readonly attributes?: readonly KeyValue[];
    readonly asDouble?: number;
    readonly asInt?: string;
  }[];
}

interface MetricsRequest {
  readonly resourceMetrics?: readonly {
    readonly scopeMetrics?: readonly {
      readonly metrics?: readonly {
        readonly name: string;
        readonly unit: string;
        readonly gauge?: Points;
        readonly sum?: Points;
        readonly histogram?: Points;
      }[];
    }[];
  }[];
}

/** Bytes that protobufjs writes as base64. */
const hex = (base64: string): string => Buffer.from(base64, "base64").toString("hex");

const read = (attributes: readonly KeyValue[] = []): Attributes =>
  Object.fromEntries(attributes.map(({ key, value = {} }) => [key, Object.values(value)[0]]));

/** Received spans as trees, each below its parent in the order in which they began. */
export function treeOf(spans: readonly ReceivedSpan[]): string[] {
  const lines: string[] = [];
  const known = new Set(spans.map(({ spanId }) => spanId));
  const byStart = [...spans].sort((a, b) => (a.start < b.start ? -1 : a.start > b.start ? 1 : 0));
  const add = (span: ReceivedSpan, depth: number): void => {
    lines.push(`${"  ".repeat(depth)}${span.name}${span.status === "ERROR" ? `: ${span.message}` : ""}`);
    for (const each of byStart) if (each.parentSpanId === span.spanId) add(each, depth + 1);
  };
  for (const span of byStart) if (span.parentSpanId === undefined || !known.has(span.parentSpanId)) add(span, 0);
  return lines;
}
