import type { Clock, Histogram, System } from "../../index";
import type { MetricFamily, Part, Route, Sample, SampledHistogram, Site } from "../contract";
import { familyOf } from "../metric-family";
import { authorized } from "./authorized";
import { OPEN_METRICS, openMetrics } from "./open-metrics";

/** The page of metrics. */
export interface MetricsPageOptions {
  /** True to show it to everybody, without a caller and without limits. Default: false. */
  readonly isOpen?: boolean;
}

/**
 * `GET /metrics`: OpenMetrics text, of the messages of the system, its mailboxes, the process, the requests of this gateway, and whatever
 * its other parts have. No text from a request becomes a label, so that strangers cannot add rows.
 */
export function metricsPart(site: Site, { isOpen = false }: MetricsPageOptions): Part {
  const requests = new Requests();
  const delay = new LoopDelay(site.clock);
  const countsMessages = hasMetrics(site.system);
  const answer = (): Response => new Response(openMetrics(site.metrics()), { headers: HEADERS });
  return {
    routes: [
      {
        method: "GET",
        path: "/metrics",
        isOpen,
        handle: isOpen ? answer : authorized(site, "/metrics", answer),
        description: {
          summary: "Metrics as OpenMetrics text",
          answer: { type: OPEN_METRICS, schema: { type: "string" } },
        },
      },
    ],
    metrics: () => [
      gauge("envoi_service_info", "The service: always 1.", 1, { name: site.name, version: site.version }),
      ...(countsMessages ? messageFamilies(site.system) : []),
      ...mailboxFamilies(site.system),
      ...requests.families(),
      ...processFamilies(),
      delay.family(),
    ],
    answered: (route, status, duration) => requests.add(route, status, duration),
    close: () => delay.end(),
  };
}

const HEADERS = { "content-type": OPEN_METRICS, "cache-control": "no-store" };

/** Seconds: what is measured is in milliseconds. */
const inSeconds = (milliseconds: number): number => milliseconds / 1000;

const gauge = (
  name: string,
  help: string,
  value: number,
  labels: Sample["labels"] = {},
  unit?: "bytes",
): MetricFamily => ({ ...familyOf("gauge", name, help, value, labels), ...(unit && { unit }) });

function hasMetrics(system: System): boolean {
  try {
    system.metrics();
    return true;
  } catch {
    return false; // It was made without the option.
  }
}

/** The messages of each operation, and how long they took. */
function messageFamilies(system: System): readonly MetricFamily[] {
  const { bounds, sample, operations } = system.metrics();
  const seconds = bounds.map(inSeconds);
  const labelsOf = ({ protocol = "", operation = "" }: (typeof operations)[number]): Sample["labels"] => ({
    protocol,
    operation,
  });
  const times = (name: string, help: string, key: "queueTime" | "handlerTime"): MetricFamily => ({
    name,
    type: "histogram",
    unit: "seconds",
    help: `${help} One message in ${sample} is timed.`,
    samples: operations.map((row) => ({ labels: labelsOf(row), value: histogramOf(row[key], seconds) })),
  });
  return [
    {
      name: "envoi_messages",
      type: "counter",
      help: "Messages by their outcome. An empty protocol: of a router, or for nobody. An empty operation: one that the protocol lacks.",
      samples: operations.flatMap((row) =>
        (["handled", "failed", "dead"] as const).map((outcome) => ({
          labels: { ...labelsOf(row), outcome },
          value: row[outcome],
        })),
      ),
    },
    times("envoi_message_queue_seconds", "The time that messages waited in the mailbox.", "queueTime"),
    times("envoi_message_handler_seconds", "The time that handlers took.", "handlerTime"),
  ];
}

const histogramOf = ({ buckets, sum, count }: Histogram, bounds: readonly number[]): SampledHistogram => ({
  bounds,
  buckets,
  sum: inSeconds(sum),
  count,
});

/** The messages that wait, and where all ended. */
function mailboxFamilies({ router }: System): readonly MetricFamily[] {
  const { queued, running, dead } = router.audit();
  return [
    gauge("envoi_mailbox_messages", "Messages that wait in mailboxes.", queued),
    gauge("envoi_running_messages", "Messages that are being handled.", running),
    familyOf("counter", "envoi_dead_letters", "Messages that no handler took.", dead),
  ];
}

function processFamilies(): readonly MetricFamily[] {
  const { heapUsed, rss } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  return [
    {
      name: "process_cpu_seconds",
      type: "counter",
      unit: "seconds",
      help: "Processor time of this process.",
      samples: [{ labels: {}, value: (user + system) / 1e6 }],
    },
    gauge("process_resident_memory_bytes", "Memory of this process that is in RAM.", rss, {}, "bytes"),
    gauge("envoi_heap_bytes", "JavaScript's heap in use.", heapUsed, {}, "bytes"),
  ];
}

/** Upper bounds in milliseconds. */
const BOUNDS: readonly number[] = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000];
const BOUNDS_IN_SECONDS: readonly number[] = BOUNDS.map(inSeconds);

class Durations {
  readonly #buckets = new Array<number>(BOUNDS.length + 1).fill(0);
  #sum = 0;
  #count = 0;

  add(milliseconds: number): void {
    let index = 0;
    while (index < BOUNDS.length && milliseconds > (BOUNDS[index] ?? 0)) index++;
    this.#buckets[index] = (this.#buckets[index] ?? 0) + 1;
    this.#sum += milliseconds;
    this.#count++;
  }

  get histogram(): SampledHistogram {
    return {
      bounds: BOUNDS_IN_SECONDS,
      buckets: [...this.#buckets],
      sum: inSeconds(this.#sum),
      count: this.#count,
    };
  }
}

/** The requests by route and status. There are as many rows as routes, and one for paths that no route has. */
class Requests {
  readonly #rows = new Map<
    Route | undefined,
    { readonly statuses: Map<number, number>; readonly durations: Durations }
  >();

  add(route: Route | undefined, status: number, duration: number): void {
    let row = this.#rows.get(route);
    if (row === undefined) {
      row = { statuses: new Map(), durations: new Durations() };
      this.#rows.set(route, row);
    }
    row.statuses.set(status, (row.statuses.get(status) ?? 0) + 1);
    row.durations.add(duration);
  }

  families(): readonly MetricFamily[] {
    const rows = [...this.#rows].map(([route, row]) => ({
      labels: { method: route?.method ?? "", route: route?.path ?? "" },
      ...row,
    }));
    return [
      {
        name: "envoi_http_requests",
        type: "counter",
        help: "Requests by route and status. An empty route: a path or a method that no route has.",
        samples: rows.flatMap(({ labels, statuses }) =>
          [...statuses].map(([status, value]) => ({ labels: { ...labels, status: String(status) }, value })),
        ),
      },
      {
        name: "envoi_http_request_seconds",
        type: "histogram",
        unit: "seconds",
        help: "The time from a request to its response; for a stream, until it begins.",
        samples: rows.map(({ labels, durations }) => ({ labels, value: durations.histogram })),
      },
    ];
  }
}

/** Milliseconds between two looks at the event loop. */
const LOOKS = 500;

/** Measures how late the event loop is for a timer. */
class LoopDelay {
  readonly #clock: Clock;
  readonly #delays = new Durations();
  #timer: ReturnType<Clock["setTimer"]> | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#look();
  }

  #look(): void {
    const due = this.#clock.monotonicTime() + LOOKS;
    this.#timer = this.#clock.setTimer(() => {
      this.#delays.add(Math.max(this.#clock.monotonicTime() - due, 0));
      this.#look();
    }, LOOKS);
    this.#timer.unref();
  }

  end(): void {
    this.#timer?.cancel();
  }

  family(): MetricFamily {
    return {
      name: "envoi_event_loop_delay_seconds",
      type: "histogram",
      unit: "seconds",
      help: `How late the event loop is for a timer, looked at each ${LOOKS} ms.`,
      samples: [{ labels: {}, value: this.#delays.histogram }],
    };
  }
}
