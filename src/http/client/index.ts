export { createClient } from "./client";
export { type ClientError, type ClientErrorKind, ClientStreamError } from "./client-error";
export type { AnyGateway, Client, ClientTools, JsonOf, RemoteActor } from "./client-types";
export type { ClientSessions, Session, SessionCallOptions, SessionEvent, SessionEventsOptions } from "./sessions";
export type { CallOptions, ClientHeaders, ClientOptions, RetryOptions, StreamCallOptions } from "./settings";
