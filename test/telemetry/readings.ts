import {
  type DataPoint,
  type Histogram,
  MeterProvider,
  type MetricData,
  type MetricProducer,
  MetricReader,
} from "@opentelemetry/sdk-metrics";

/** A reader that a test tells when to collect. */
class OnDemand extends MetricReader {
  protected override async onShutdown(): Promise<void> {}
  protected override async onForceFlush(): Promise<void> {}
}

/** The real SDK, read on demand. */
export function testMeters(...metricProducers: MetricProducer[]) {
  const reader = new OnDemand({ metricProducers });
  const provider = new MeterProvider({ readers: [reader] });
  const collect = async (): Promise<Collected> => {
    const { resourceMetrics, errors } = await reader.collect();
    if (errors.length > 0) throw errors[0];
    return new Collected(resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics));
  };
  return { meter: provider.getMeter("envoi"), collect };
}

/** What a reader has collected, by name. */
export class Collected {
  readonly #metrics: readonly MetricData[];

  constructor(metrics: readonly MetricData[]) {
    this.#metrics = metrics;
  }

  get names(): string[] {
    return this.#metrics.map(({ descriptor }) => descriptor.name).sort();
  }

  get(name: string): MetricData | undefined {
    return this.#metrics.find(({ descriptor }) => descriptor.name === name);
  }

  /** The values of a metric, each under its attributes in short: `shop order`, and its error type. */
  values(name: string): Record<string, number> {
    return Object.fromEntries(this.#points<number>(name).map(({ attributes, value }) => [keyOf(attributes), value]));
  }

  histograms(name: string): Record<string, Histogram> {
    return Object.fromEntries(this.#points<Histogram>(name).map(({ attributes, value }) => [keyOf(attributes), value]));
  }

  #points<Value>(name: string): readonly DataPoint<Value>[] {
    const points: readonly DataPoint<unknown>[] = this.get(name)?.dataPoints ?? [];
    return points as readonly DataPoint<Value>[]; // The test knows of which type they are.
  }
}

const keyOf = (attributes: DataPoint<unknown>["attributes"]): string =>
  ["messaging.destination.template", "messaging.envoi.operation", "error.type", "cpu.mode"]
    .flatMap((name) => (name in attributes ? [String(attributes[name])] : []))
    .join(" ");
