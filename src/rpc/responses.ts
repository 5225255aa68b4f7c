import type { RequestId, RpcErrorObject } from "./contract";
import { errorOfKind, INVALID_REQUEST, PARSE_ERROR } from "./errors";

// The texts of answers. Refusals are written once, so that a flood of invalid messages costs little.

/** An id as JSON. */
export const idText = (id: RequestId): string => (typeof id === "number" ? `${id}` : JSON.stringify(id));

/** @param result as JSON. */
export const resultText = (id: RequestId, result: string): string =>
  `{"jsonrpc":"2.0","id":${idText(id)},"result":${result}}`;

/** @param error as JSON. */
export const errorText = (id: RequestId, error: string): string =>
  `{"jsonrpc":"2.0","id":${idText(id)},"error":${error}}`;

const written = (error: RpcErrorObject): string => JSON.stringify(error);
const invalid = (message: string): string => written({ code: INVALID_REQUEST, message });

/** The errors of messages that are refused at once, as JSON. */
export const REFUSED = {
  noJson: written({ code: PARSE_ERROR, message: "This is no JSON." }),
  notText: written({ code: PARSE_ERROR, message: "This is no UTF-8." }),
  tooDeep: invalid("The JSON is nested too deep: send it flatter."),
  ownPrototype: invalid('The JSON has a key "__proto__": leave it out.'),
  noMessage: invalid("This is no message of JSON-RPC 2.0."),
  badId: invalid("The id of a request is a text, an integer that a number can hold, or null."),
  badParams: invalid("The params are an object or an array, or left out."),
  idInUse: invalid("A request with this id is under way: give each its own."),
  emptyBatch: invalid("A batch has one message at least."),
  tooLong: (maxBytes: number): string =>
    written({ ...errorOfKind("payload-too-large", { limit: maxBytes }), code: INVALID_REQUEST }),
  largeBatch: (most: number): string =>
    invalid(
      most === 0 ? "Batches are not taken here: send each message by itself." : `A batch has at most ${most} messages.`,
    ),
  busy: (most: number): string => written(errorOfKind("mailbox-full", { capacity: most })),
  unknown: written(errorOfKind("unknown-operation")),
  misfit: written(errorOfKind("invalid-payload")),
  nobody: written(errorOfKind("invalid-payload", {}, "The params name nobody who is there: check the ids in them.")),
  unwritable: written(errorOfKind("handler-failed", {}, "The result cannot be written as JSON.")),
} as const;
