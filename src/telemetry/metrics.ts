import type { Attributes, BatchObservableResult, Meter, Observable } from "@opentelemetry/api";
import { checkOptions, type DeadLetter, type OptionChecks, option, type System } from "../index";
import { census } from "./census";
import { ATTRIBUTES, withMethods } from "./checks";
import { LoopDelay } from "./loop-delay";
import { attributesOf, PROTOCOL, SYSTEM } from "./names";
import { RowNames, rowsOf } from "./rows";

/** The options of metrics. */
export interface TelemetryMetricsOptions {
  /** Makes the instruments: `metrics.getMeter("envoi")` of OpenTelemetry's API, or a meter of a provider. */
  readonly meter: Meter;
  /**
   * True to count messages by operation: `createSystem({ metrics: true })` counts them. Set it to false for a system that was made
   * without it. Default: true.
   */
  readonly messages?: boolean;
  /** True to measure the process (processor, memory) and the event loop; once a process is enough. Default: true. */
  readonly runtime?: boolean;
  /**
   * Milliseconds between two looks at how late the event loop is, or `Infinity` for none. A block that lasts longer than this is
   * always seen. Default: 20, at some 0.4 % of a processor.
   */
  readonly resolution?: number;
  /** Attributes of each value, such as the name of this system where a process has several. Default: none. */
  readonly attributes?: Attributes;
}

const CHECKS: OptionChecks<TelemetryMetricsOptions> = {
  meter: withMethods('is one of OpenTelemetry: metrics.getMeter("envoi")', "addBatchObservableCallback"),
  messages: option.flag,
  runtime: option.flag,
  resolution: option.rule(
    "is a number of milliseconds from 1, or Infinity",
    (value) => typeof value === "number" && value >= 1,
    RangeError,
  ),
  attributes: ATTRIBUTES,
};

/**
 * Gives a system's counts to OpenTelemetry: messages by operation and outcome, dead letters by reason, restarts, actors and mailboxes by
 * protocol, and the process. All are read when a reader collects them, so messages cost nothing (a dead letter is counted). Histograms of
 * times cannot go through a meter without a call for each message: see `metricProducer`.
 *
 * @returns a function that ends it.
 * @throws TypeError or RangeError when an option is invalid; Error when the system counts no messages.
 * @example
 * const system = createSystem({ metrics: true });
 * const stop = metrics(system, { meter: provider.getMeter("envoi") });
 */
export function metrics(system: System, options: TelemetryMetricsOptions): () => void {
  checkOptions(options, CHECKS, "metrics", '{ meter: metrics.getMeter("envoi") }');
  const { meter, messages = true, runtime = true, resolution = 20, attributes = {} } = options;
  if (meter === undefined) CHECKS.meter(meter, "meter", "metrics");
  if (messages) checkCounts(system);
  const readings = [
    actorReadings(meter, system),
    deadLetterReadings(meter, system),
    ...(messages ? [messageReadings(meter, system)] : []),
    ...(runtime ? [processReadings(meter), loopReadings(meter, system, resolution)] : []),
  ];
  const observables = readings.flatMap(({ observables }) => observables);
  const read = async (result: BatchObservableResult): Promise<void> => {
    const observe: Observe = (observable, value, own = {}) =>
      result.observe(observable, value, { [SYSTEM]: "envoi", ...attributes, ...own });
    for (const { read } of readings) await read(observe);
  };
  meter.addBatchObservableCallback(read, observables);
  return () => {
    meter.removeBatchObservableCallback(read, observables);
    for (const { end } of readings) end?.();
  };
}

function checkCounts(system: System): void {
  try {
    system.metrics();
  } catch (cause) {
    throw new Error(
      "metrics() has no messages to tell of, since this system counts none: make it with createSystem({ metrics: true }), or write metrics(system, { meter, messages: false }).",
      { cause },
    );
  }
}

type Observe = (observable: Observable, value: number, attributes?: Attributes) => void;

/** Some instruments, and how their values are read. */
interface Readings {
  readonly observables: Observable[];
  read(observe: Observe): void | Promise<void>;
  end?(): void;
}

/** The messages of each operation, by outcome. */
function messageReadings(meter: Meter, system: System): Readings {
  const consumed = meter.createObservableCounter("messaging.client.consumed.messages", {
    description: "Messages that were handled. Those whose handler failed have error.type.",
    unit: "{message}",
    valueType: 0,
  });
  const dead = meter.createObservableCounter("envoi.dead_messages", {
    description: "Messages that no handler took, by their operation.",
    unit: "{message}",
    valueType: 0,
  });
  const names = new RowNames();
  return {
    observables: [consumed, dead],
    read(observe) {
      for (const row of rowsOf(system.metrics().operations, names)) {
        const attributes = attributesOf(row);
        observe(consumed, row.handled, attributes);
        if (row.failed > 0) observe(consumed, row.failed, { ...attributes, "error.type": "handler-failed" });
        if (row.dead > 0) observe(dead, row.dead, attributes);
      }
    },
  };
}

/** Dead letters by reason, from now on. */
function deadLetterReadings(meter: Meter, { router }: System): Readings {
  const letters = meter.createObservableCounter("envoi.dead_letters", {
    description: "Dead letters by reason, since the metrics of the system were begun.",
    unit: "{message}",
    valueType: 0,
  });
  const counts = new Map<DeadLetter["reason"], number>();
  const end = router.deadLetters.subscribe(({ reason }) => {
    counts.set(reason, (counts.get(reason) ?? 0) + 1);
  });
  return {
    observables: [letters],
    read(observe) {
      for (const [reason, count] of counts) observe(letters, count, { "error.type": reason });
    },
    end,
  };
}

/** The actors of each protocol, and what waits for them. */
function actorReadings(meter: Meter, system: System): Readings {
  const messages = { unit: "{message}", valueType: 0 } as const;
  const alive = meter.createObservableUpDownCounter("envoi.actors", {
    description: "Actors that have not stopped.",
    unit: "{actor}",
    valueType: 0,
  });
  const waiting = meter.createObservableUpDownCounter("envoi.mailbox.messages", {
    ...messages,
    description: "Messages that wait in mailboxes.",
  });
  const deepest = meter.createObservableGauge("envoi.mailbox.max_messages", {
    ...messages,
    description: "Messages that wait in the fullest mailbox.",
  });
  const running = meter.createObservableUpDownCounter("envoi.running_messages", {
    ...messages,
    description: "Messages that are being handled.",
  });
  const restarts = meter.createObservableCounter("envoi.actor.restarts", {
    description: "Restarts of actors.",
    unit: "{restart}",
    valueType: 0,
  });
  const names = new RowNames();
  return {
    observables: [alive, waiting, deepest, running, restarts],
    async read(observe) {
      observe(restarts, system.restarts);
      for (const [protocol, row] of await census(system, names)) {
        const attributes = { [PROTOCOL]: protocol };
        observe(alive, row.alive, attributes);
        observe(waiting, row.waiting, attributes);
        observe(deepest, row.deepest, attributes);
        observe(running, row.running, attributes);
      }
    },
  };
}

/** The processor and the memory of the process. */
function processReadings(meter: Meter): Readings {
  const cpu = meter.createObservableCounter("process.cpu.time", {
    description: "Processor time of the process.",
    unit: "s",
  });
  const memory = meter.createObservableUpDownCounter("process.memory.usage", {
    description: "Physical memory of the process.",
    unit: "By",
    valueType: 0,
  });
  // The conventions know the heap of V8 alone (v8js.memory.heap.used), which Bun does not have.
  const heap = meter.createObservableUpDownCounter("envoi.heap.usage", {
    description: "JavaScript's heap in use.",
    unit: "By",
    valueType: 0,
  });
  return {
    observables: [cpu, memory, heap],
    read(observe) {
      const { user, system } = process.cpuUsage();
      observe(cpu, user / 1e6, { "cpu.mode": "user" });
      observe(cpu, system / 1e6, { "cpu.mode": "system" });
      const { rss, heapUsed } = process.memoryUsage();
      observe(memory, rss);
      observe(heap, heapUsed);
    },
  };
}

/** The delay of the event loop since the values were read last. */
function loopReadings(meter: Meter, { clock }: System, resolution: number): Readings {
  const delay = new LoopDelay(clock, resolution);
  const gauges = (["mean", "max", "p50", "p90", "p99"] as const).map((name) => ({
    name,
    gauge: meter.createObservableGauge(`nodejs.eventloop.delay.${name}`, {
      description: `How late the event loop was for a timer: ${name}, since it was read last.`,
      unit: "s",
    }),
  }));
  return {
    observables: gauges.map(({ gauge }) => gauge),
    read(observe) {
      const delays = delay.take();
      if (delays !== undefined) for (const { name, gauge } of gauges) observe(gauge, delays[name] / 1000);
    },
    end: () => delay.end(),
  };
}
