export type { Caller, EndpointOptions, Limits, ResumeOptions } from "./contract";
export { type Authenticate, type Authorize, createGateway, type Gateway, type GatewayOptions } from "./gateway";
