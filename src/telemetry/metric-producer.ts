import type { Attributes } from "@opentelemetry/api";
import { checkOptions, type Histogram, type OperationMetrics, type OptionChecks, type System } from "../index";
import { ATTRIBUTES } from "./checks";
import { attributesOf, SYSTEM } from "./names";
import { RowNames, rowsOf } from "./rows";

/** The options of a producer of metrics. */
export interface MetricProducerOptions {
  /** Attributes of each value, such as the name of this system where a process has several. Default: none. */
  readonly attributes?: Attributes;
}

const CHECKS: OptionChecks<MetricProducerOptions> = { attributes: ATTRIBUTES };

/** Seconds, and nanoseconds of the next one. */
type HrTime = [number, number];

/** A histogram in the form of OpenTelemetry's SDK. */
interface HistogramData {
  readonly descriptor: { readonly name: string; readonly description: string; readonly unit: string; valueType: 1 };
  /** Cumulative: each collection has all times so far. */
  readonly aggregationTemporality: 1;
  readonly dataPointType: 0;
  readonly dataPoints: {
    readonly startTime: HrTime;
    readonly endTime: HrTime;
    readonly attributes: Attributes;
    readonly value: {
      readonly buckets: { boundaries: number[]; counts: number[] };
      readonly sum: number;
      readonly count: number;
      readonly max: number;
    };
  }[];
}

/** The times of a system, as readers of OpenTelemetry's SDK take them (its `MetricProducer`). */
export interface TimesProducer {
  collect(): Promise<{
    // The reader puts its own resource in place of this one; the SDK's type wants a class of its own, which this package does not load.
    readonly resourceMetrics: {
      readonly resource: never;
      scopeMetrics: { readonly scope: { readonly name: string }; metrics: HistogramData[] }[];
    };
    readonly errors: unknown[];
  }>;
}

/**
 * Gives the histograms of a system to a reader of OpenTelemetry's SDK: `messaging.process.duration`, the time of handlers, and
 * `envoi.queue.duration`, the wait in the mailbox, of each operation, in seconds. A meter takes a histogram only value by value; the SDK
 * takes one as it is, so messages cost nothing. Counts are of the messages that were timed (`metrics: { sample }`), and cumulative,
 * whatever temporality the reader prefers.
 *
 * @throws TypeError when an option is invalid; Error when the system counts no messages.
 * @example
 * const system = createSystem({ metrics: true });
 * new PeriodicExportingMetricReader({ exporter, metricProducers: [metricProducer(system)] });
 */
export function metricProducer(system: System, options: MetricProducerOptions = {}): TimesProducer {
  checkOptions(options, CHECKS, "a metricProducer", '{ attributes: { "envoi.system": "shop" } }');
  const { attributes = {} } = options;
  system.metrics(); // Throws where there are none.
  const names = new RowNames();
  const startTime = timeOf(system.clock.wallTime());
  return {
    async collect() {
      const { bounds, sample, operations } = system.metrics();
      const rows = rowsOf(operations, names);
      const boundaries = bounds.map((bound) => bound / 1000);
      const endTime = timeOf(system.clock.wallTime());
      const family = (name: string, description: string, timesOf: (row: OperationMetrics) => Histogram) =>
        ({
          descriptor: {
            name,
            description: `${description} One message in ${sample} is timed.`,
            unit: "s",
            valueType: 1,
          },
          aggregationTemporality: 1,
          dataPointType: 0,
          dataPoints: rows.flatMap((row) => {
            const { count, sum, max, buckets } = timesOf(row);
            if (count === 0) return [];
            return {
              startTime,
              endTime,
              attributes: { [SYSTEM]: "envoi", ...attributes, ...attributesOf(row) },
              value: { buckets: { boundaries, counts: [...buckets] }, sum: sum / 1000, count, max: max / 1000 },
            };
          }),
        }) satisfies HistogramData;
      const metrics = [
        family("messaging.process.duration", "The time that handlers took.", (row) => row.handlerTime),
        family("envoi.queue.duration", "The time that messages waited in the mailbox.", (row) => row.queueTime),
      ];
      return {
        resourceMetrics: { resource: undefined as never, scopeMetrics: [{ scope: { name: "envoi" }, metrics }] },
        errors: [],
      };
    },
  };
}

function timeOf(milliseconds: number): HrTime {
  const seconds = Math.floor(milliseconds / 1000);
  return [seconds, Math.round((milliseconds - seconds * 1000) * 1e6)];
}
