export type { Caller, EndpointOptions, Limits, ResumeOptions } from "./contract";
export type { CorsOptions } from "./cors";
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
export type { Exposing } from "./exposure";
export { createGateway, type Gateway } from "./gateway";
export type { Authenticate, Authorize, GatewayOptions } from "./gateway-options";
export type { Problem } from "./problem";
export { type ServeOptions, type Serving, type StopOptions, serve } from "./serve";
export type { KeepOptions, Session, SessionEvent, SessionsOptions } from "./sessions/options";
export { sessions } from "./sessions/sessions";
export type { SocketOptions } from "./socket/options";
export type { AnyTopic, ExposedTopics } from "./socket/relay";
