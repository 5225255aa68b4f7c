export { type Static, Type } from "typebox";
export type { Context, Factory } from "./actor/context";
export type { Audit, DeadLetter, Logger } from "./actor/environment";
export type { AskOptions, AskResult } from "./actor/pending-ask";
export type { AnyRef, AnySignatures, Ref, RefTo } from "./actor/ref";
export { type ActorStream, StreamError, type StreamOptions } from "./actor/stream";
export { type Address, address, isAddress, type ParsedAddress, parseAddress } from "./message/address";
export {
  type AskError,
  type DeliveryError,
  type Issue,
  isDeliveryError,
} from "./message/delivery-error";
export type { FormatError } from "./message/format-error";
export { generateCorrelationId, generateMessageId } from "./message/id";
export { createMessage, type Message, type MessageOptions, type Metadata, type Pattern } from "./message/message";
export {
  createErrorResponse,
  createResponse,
  type ErrorResponse,
  type Response,
  type SuccessResponse,
} from "./message/response";
export { parseMessage, parseResponse, serializeMessage } from "./message/wire";
export { defineProtocol, type Protocol, type SignaturesOf } from "./protocol/protocol";
export type { SystemOptions } from "./router/environment";
export { createRouter, type MessageHandler, type Router } from "./router/router";
export { type Clock, type ClockTimer, systemClock } from "./runtime/clock";
export type { Feed } from "./runtime/feed";
export { createSystem, type ShutdownReport, type System } from "./system";
