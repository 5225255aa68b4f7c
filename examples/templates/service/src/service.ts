import { createSystem, createTopic } from "envoi";
import { bearerTokens, serve } from "envoi/http";
import { createFeed } from "./feed";
import { Feed, type Level, Stock } from "./protocols";
import type { Settings } from "./settings";
import { createStock } from "./stock";

/** Most streams of one caller. */
const STREAMS = 20;

/** Starts the service. It ends by SIGINT, by SIGTERM, and by `stop()`. */
export function startService({ port, tokens, rateLimit }: Settings) {
  const system = createSystem({ name: "stock", metrics: true });
  const changes = createTopic<Level>("changes");
  const stock = system.spawn("stock", Stock, createStock(changes), {
    capacity: 1_000, // Further requests get 503, and do not pile up.
  });
  const feed = system.spawn("feed", Feed, createFeed, {
    concurrency: STREAMS * Object.keys(tokens).length + 1, // All that callers may read, and the changes.
  });
  changes.subscribe(feed, "publish");

  return serve(system, {
    port,
    name: "stock",
    version: "0.1.0",
    expose: {
      stock: { ref: stock, operations: ["add", "take", "levels"] },
      feed: { ref: feed, operations: { changes: { resume: { for: 60_000 } } } },
    },
    authenticate: bearerTokens(tokens),
    authorize: (caller, actor) => actor !== "/metrics" || caller?.id === "prometheus",
    rateLimit,
    limits: { body: 16_384, time: 5_000, streams: STREAMS },
    metrics: true,
    shutdown: { streams: 1_000, timeout: 5_000, drain: true }, // Less than the host waits: 10 s in Docker.
  });
}
