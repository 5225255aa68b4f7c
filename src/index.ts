export { err, ok, type Result, ResultAsync } from "neverthrow";
export { type Static, Type } from "typebox";
export type { Audit } from "./actor/contract";
export type { AskResult } from "./actor/envelopes/ask";
export type { AskOptions, OfferOptions, Progress, StreamOptions, TellOptions } from "./actor/envelopes/call-options";
export { checkProgress } from "./actor/envelopes/progress";
export { StreamError } from "./actor/envelopes/stream-step";
export type {
  DeadLetter,
  DeadLetterEvent,
  FailedEvent,
  HeldEvent,
  Logger,
  OverflowEvent,
  PublishedEvent,
  RestartedEvent,
  SlowHandlerEvent,
  StartedEvent,
  StoppedEvent,
  SystemEvent,
} from "./actor/events";
export type { Attachment, AttachOptions } from "./actor/face/attach";
export type { Context, Factory, Hooks } from "./actor/face/context";
export type { ActorReport, ActorView, RunningMessage } from "./actor/face/inspect";
export type { Opener } from "./actor/face/opening";
export type { ResolveOptions } from "./actor/face/resolvers";
export { checkBehaviour } from "./actor/handlers";
export type { Timers } from "./actor/life/timers";
export type { Terminated } from "./actor/life/watch";
export type { Histogram, Metrics, MetricsOptions, OperationMetrics } from "./actor/metrics";
export type {
  Around,
  AroundOptions,
  HandlingOutcome,
  HandsOn,
  ObservedHandling,
  ObservedSending,
  OnEnd,
  OnSend,
} from "./actor/observers";
export type { ActorOptions, Overflow } from "./actor/options";
export { type Expose, reviveRefs } from "./actor/refs/exposure";
export type { AnswerFrame, MessageFrame, RequestFrame } from "./actor/refs/frames";
export { type Door, type DoorOptions, type OpenDoor, receive } from "./actor/refs/receive";
export {
  type AnySignatures,
  type Forwardable,
  type Forwarded,
  inheritedBy,
  isRef,
  logOf,
  operationsOf,
  type Ref,
  type RefTo,
} from "./actor/refs/ref";
export { refSchema } from "./actor/refs/ref-schema";
export { createResponder, type Responder, type ResponderOptions } from "./actor/refs/responder";
export type { ActorStream } from "./actor/refs/stream-reader";
export type { Backoff, BeyondLimit, Directive, Strategy, Supervision } from "./actor/supervision";
export type { Outgoing, Transport } from "./actor/transport";
export {
  type Address,
  type AnyRef,
  address,
  type FormatError,
  isAddress,
  type ParsedAddress,
  parseAddress,
  quote,
} from "./message/address";
export { createDeliveryError, type ErrorDetails, isErrorKind } from "./message/create-error";
export {
  type AskCycleError,
  type AskError,
  type CancelledError,
  type DeliveryError,
  type HandlerFailedError,
  type InvalidPayloadError,
  type Issue,
  isDeliveryError,
  type MailboxFullError,
  type NoRecipientError,
  type PayloadTooLargeError,
  type StoppedError,
  type TimeoutError,
  type UnknownOperationError,
  type UnreachableError,
} from "./message/delivery-error";
export { generateCorrelationId, generateMessageId } from "./message/id";
export { createMessage, type Message, type MessageOptions, type Metadata, type Pattern } from "./message/message";
export { nearestName } from "./message/nearest";
export { checkOptions, type OptionCheck, type OptionChecks, option } from "./message/option";
export { type JsonFault, type JsonLimits, readJson } from "./message/read-json";
export {
  createErrorResponse,
  createResponse,
  type ErrorResponse,
  type MessageResponse,
  type PublicError,
  publicError,
  type SuccessResponse,
} from "./message/response";
export { type TraceContext, traceContext, traceOf } from "./message/trace-context";
export { parseMessage, parseResponse, serializeMessage, writeJson } from "./message/wire";
export { expose, publicIssues } from "./message/withhold";
export { jsonSchemaOf, type OperationJsonSchema } from "./protocol/json-schema";
export { type Outcome, type OutcomeReply, outcomeOf } from "./protocol/outcome-of";
export {
  defineProtocol,
  type Operation,
  type OperationHints,
  type OperationSchemas,
  type Protocol,
  protocolOf,
  type SignaturesOf,
} from "./protocol/protocol";
export type { Infer, JsonSchema, Schema, StandardSchemaV1 } from "./protocol/schema";
export type {
  AskArgs,
  Asked,
  AskName,
  CallArgs,
  Handlers,
  ItemOf,
  Items,
  PassedOn,
  PayloadArgs,
  ReplyOf,
  ShapeOf,
  Stream,
  StreamArgs,
  Streamed,
  StreamName,
} from "./protocol/signatures";
export type { SystemOptions } from "./router/environment";
export { type Dropped, drop, type Interceptor, type Next, type Passage } from "./router/interceptor";
export { type PoolOptions, type Routing, type RoutingOptions, type Spawner, spawnPool } from "./router/pool";
export { createPool, type Pool, type RefPoolOptions } from "./router/pool-of-refs";
export { createRouter, type MessageHandler, type Router } from "./router/router";
export { createTopic, type TakerName, type Topic } from "./router/topic";
export { type Clock, type ClockTimer, systemClock } from "./runtime/clock";
export type { Dispatcher, DispatcherParts, Runnable } from "./runtime/dispatcher";
export type { Feed } from "./runtime/feed";
export type { SignalName } from "./runtime/signals";
export { createSystem, type ShutdownOptions, type ShutdownReport, type SignalOptions, type System } from "./system";
