import { type AskOptions, createSystem, type System } from "envoi";
import { counted, needing, suiteOf, timed } from "../harness/rows";
import type { Floor, Prepared } from "../harness/suite";
import { Echo, spawnEcho } from "../subjects/echo";

// Both sides use the same SDK, which is loaded by the first of them, since most runs are of other suites.

const NAME = "process echo.say";
const ATTRIBUTES = {
  "messaging.system": "envoi",
  "messaging.operation.type": "process",
  "messaging.operation.name": "process",
  "messaging.destination.name": "@(echo)",
  "messaging.destination.template": "echo",
  "messaging.envoi.operation": "say",
};

/** A tracer whose spans go nowhere, and the number of those that ended. */
async function sdk(isSampled: boolean) {
  const api = await import("@opentelemetry/api");
  const { AsyncLocalStorageContextManager } = await import("@opentelemetry/context-async-hooks");
  const { AlwaysOffSampler, AlwaysOnSampler, ParentBasedSampler, TracerProvider } = await import(
    "@opentelemetry/sdk-trace"
  );
  api.context.disable();
  api.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  let ended = 0;
  const settled = async (): Promise<void> => undefined;
  const counting = { onStart() {}, onEnd: () => void ended++, forceFlush: settled, shutdown: settled };
  const sampler = new ParentBasedSampler({ root: isSampled ? new AlwaysOnSampler() : new AlwaysOffSampler() });
  const provider = new TracerProvider({ sampler, spanProcessors: [counting] });
  return { api, tracer: provider.getTracer("envoi"), ended: () => ended };
}

type Sdk = Awaited<ReturnType<typeof sdk>>;

/** Asks in sequence, each with the options that are due. */
function asked(
  operations: number,
  system: System,
  echo = spawnEcho(system),
  options?: readonly AskOptions[],
): Prepared {
  let index = 0;
  return counted(
    async () => {
      let done = 0;
      for (let i = 0; i < operations; i++) {
        const reply = await (options === undefined ? echo.ask("say", i) : echo.ask("say", i, options[index++ % MANY]));
        if (reply.isOk() && reply.value === i) done++;
      }
      return done;
    },
    { teardown: () => system.shutdown() },
  );
}

/** Asks of a system with a tracer; `spans` are due for each ask. */
async function traced(
  operations: number,
  isSampled: boolean,
  spans: number,
  options?: readonly AskOptions[],
): Promise<Prepared> {
  const { tracer, ended } = await sdk(isSampled);
  const { trace } = await import("envoi/telemetry");
  const system = createSystem();
  trace(system, { tracer, queueTime: false });
  const prepared = asked(operations, system, spawnEcho(system), options);
  return { ...prepared, verify: () => due(ended(), prepared.completed() * spans) };
}

function due(ended: number, wanted: number): void {
  if (ended !== wanted) throw new Error(`${ended} spans were recorded, where ${wanted} were due`);
}

/** The same asks, whose handler makes its span by hand. */
function byHand(name: string, about: string, isSampled: boolean, span: (made: Sdk) => (n: number) => number): Floor {
  return {
    name,
    about,
    async setup(operations) {
      const made = await sdk(isSampled);
      const system = createSystem();
      const say = span(made);
      const prepared = asked(
        operations,
        system,
        system.spawn("echo", Echo, () => ({ say })),
      );
      return { ...prepared, verify: () => due(made.ended(), isSampled ? prepared.completed() : 0) };
    },
  };
}

const MANY = 1_000;
const hex = (value: number, length: number): string => value.toString(16).padStart(length, "0");
/** Each of another trace, as those of requests are. */
const unsampled: readonly AskOptions[] = Array.from({ length: MANY }, (_, index) => ({
  metadata: { traceparent: `00-${hex(index + 1, 32)}-${hex(index + 1, 16)}-00` },
}));

const plain: Floor = {
  name: "baseline: no tracer",
  about: "the same ask, whose metadata have a `traceparent`",
  setup(operations) {
    const system = createSystem();
    return asked(operations, system, spawnEcho(system), unsampled);
  },
};

const removed = async (operations: number): Promise<Prepared> => {
  const { tracer } = await sdk(true);
  const { trace } = await import("envoi/telemetry");
  const system = createSystem();
  trace(system, { tracer })();
  return asked(operations, system, spawnEcho(system), unsampled);
};

const notSampled = byHand(
  "by hand, the sampler says no",
  "the same ask without `trace()`, whose handler starts a span of the SDK and ends it",
  false,
  ({ api, tracer }) => {
    const options = { kind: api.SpanKind.CONSUMER };
    return (n) => {
      tracer.startSpan(NAME, options, api.ROOT_CONTEXT).end();
      return n;
    };
  },
);

const recorded = byHand(
  "by hand, recorded",
  "the same ask without `trace()`, whose handler starts a span of the SDK, gives it the same attributes, and ends it",
  true,
  ({ api, tracer }) => {
    const options = { kind: api.SpanKind.CONSUMER };
    return (n) => {
      const span = tracer.startSpan(NAME, options, api.ROOT_CONTEXT);
      span.setAttributes(ATTRIBUTES);
      span.end();
      return n;
    };
  },
);

/** Each side does 200,000 asks first, so that no compilation falls into a round. In pieces, a busy moment hits both. */
const WARM = { warmUp: 200, pieces: 3 };

export const suite = suiteOf(
  "telemetry",
  [
    "`trace()` of `envoi/telemetry` with OpenTelemetry's SDK, whose spans go to a processor that counts them; the floors are asks without it. Handlers run inside",
    "of their spans, which the floors leave out, and the wait in the mailbox is not measured. Each ask of an unsampled trace is of another one.",
  ].join("\n"),
  needing(lacking("@opentelemetry/sdk-trace") ?? lacking("@opentelemetry/context-async-hooks"), [
    timed("ask, its tracer removed", plain, removed, [1.1, 1, "a tracer that is off costs nothing"], WARM),
    timed(
      "ask of an unsampled trace",
      plain,
      (all) => traced(all, true, 0, unsampled),
      [
        2.45,
        1.25,
        "no span is made, but its handler runs in the context of its trace; 60 ns were wished for, and observers that do nothing take 45",
      ],
      WARM,
    ),
    timed(
      "ask, the sampler says no",
      notSampled,
      (all) => traced(all, false, 0),
      [2.2, 1.25, "the SDK makes a span to ask its sampler; 100 ns over that were wished for"],
      WARM,
    ),
    timed(
      "ask, its span recorded",
      recorded,
      (all) => traced(all, true, 1),
      [1.9, 1.5, "most of it is the SDK's own work; 1 µs over that was wished for, and half of it is reached"],
      WARM,
    ),
  ]),
);

/** The reason why rows that need a package are left out; undefined where it is installed. */
function lacking(name: string): string | undefined {
  try {
    Bun.resolveSync(name, import.meta.dir);
    return undefined;
  } catch {
    return `the package \`${name}\` is not installed`;
  }
}
