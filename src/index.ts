export { err, ok, type Result, ResultAsync } from "neverthrow";
export { type Static, Type } from "typebox";
export type { Context, Factory } from "./actor/context";
export type { Audit, DeadLetter, Logger } from "./actor/environment";
export type { AskOptions, AskResult } from "./actor/pending-ask";
export type { AnyRef, AnySignatures, Ref, RefTo } from "./actor/ref";
export { type ActorStream, StreamError, type StreamOptions } from "./actor/stream";
export { type Address, address, isAddress, type ParsedAddress, parseAddress } from "./message/address";
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
export type { FormatError } from "./message/format-error";
export { generateCorrelationId, generateMessageId } from "./message/id";
export { createMessage, type Message, type MessageOptions, type Metadata, type Pattern } from "./message/message";
export {
  createErrorResponse,
  createResponse,
  type ErrorResponse,
  type MessageResponse,
  type SuccessResponse,
} from "./message/response";
export { parseMessage, parseResponse, serializeMessage } from "./message/wire";
export { defineProtocol, type OperationSchemas, type Protocol, type SignaturesOf } from "./protocol/protocol";
export type { Infer, Schema, StandardSchemaV1 } from "./protocol/schema";
export type { AskName, Handlers, ItemOf, PayloadArgs, ReplyOf, Stream, StreamName } from "./protocol/signatures";
export type { SystemOptions } from "./router/environment";
export { createRouter, type MessageHandler, type Router } from "./router/router";
export { type Clock, type ClockTimer, systemClock } from "./runtime/clock";
export type { Feed } from "./runtime/feed";
export { createSystem, type ShutdownReport, type System } from "./system";
