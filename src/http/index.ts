export type { Caller, EndpointOptions, Limits, ResumeOptions } from "./contract";
export { type Authenticate, type Authorize, createGateway, type Gateway, type GatewayOptions } from "./gateway";
export { type ServeOptions, type Serving, type StopOptions, serve } from "./serve";
