export type { AroundRequest, Exchange } from "./around";
export { type ApiKeyOptions, type ApiKeys, apiKeys } from "./border/api-keys";
export { type Authenticate, type Authorize, anyOf, type Border } from "./border/authenticate";
export { type BearerTokens, bearerTokens, type VerifyOptions } from "./border/bearer-tokens";
export type { CorsOptions } from "./border/cors";
export { type Guarded, type GuardOptions, guard } from "./border/guard";
export type { Callers } from "./border/known-secrets";
export type { RateLimitOptions } from "./border/rate-limit";
export type { RateLeft, RateLimitStore, RateTaken } from "./border/rate-store";
export type { RateWindow } from "./border/rate-windows";
export type { Caller, EndpointOptions, Limits, ResumeOptions } from "./contract";
export type { DocumentOptions } from "./documents/documents";
export type { HealthOptions } from "./documents/health";
export {
  type Manifest,
  type ManifestEndpoint,
  type ManifestError,
  type ManifestOperation,
  type SignedManifest,
  signManifest,
  verifyManifest,
} from "./documents/manifest";
export type { MetricsPageOptions } from "./documents/metrics";
export type { ExposedSessions } from "./exposes";
export type { Exposing } from "./exposure";
export { createGateway, type Gateway } from "./gateway";
export type { GatewayOptions } from "./gateway-options";
export type { InspectorOptions } from "./inspector/options";
export type { Problem } from "./problem";
export { type ServeOptions, type Serving, type StopOptions, serve } from "./serve";
export type {
  KeepOptions,
  Session,
  SessionEvent,
  SessionOperations,
  SessionStreamOptions,
  SessionsOptions,
} from "./sessions/options";
export type { SocketOptions } from "./socket/options";
export type { AnyTopic, ExposedTopics } from "./socket/relay";
