export type { JsonOf } from "./call-types";
export { createClient } from "./client";
export { type ClientError, type ClientErrorKind, ClientStreamError } from "./client-error";
export type { AnyGateway, Client, ClientOf, ClientTools, RemoteActor } from "./client-types";
export type {
  ClientSessions,
  KeyOptions,
  RemoteSession,
  Session,
  SessionEvent,
  SessionEventsOptions,
  SessionListOptions,
  SessionPage,
  SessionStreamOptions,
} from "./session-types";
export type { CallOptions, ClientHeaders, ClientOptions, RetryOptions, StreamCallOptions } from "./settings";
export type { SubscribeOptions } from "./subscription";
