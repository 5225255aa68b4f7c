import type { Attributes } from "@opentelemetry/api";
import type { OperationMetrics } from "../index";

// The names of attributes, by OpenTelemetry's semantic conventions for messaging where they have one.

/** The attribute that says which kind of messaging this is. */
export const SYSTEM = "messaging.system";

/** The attribute that has the name of a protocol: it stands for all its actors, whose addresses are too many. */
export const PROTOCOL = "messaging.destination.template";

/** The attributes of the values of one operation. An empty protocol: of a router, or for nobody; an empty operation: one that the protocol lacks. */
export const attributesOf = ({ protocol = "", operation = "" }: OperationMetrics): Attributes => ({
  "messaging.operation.name": "process",
  "messaging.operation.type": "process",
  [PROTOCOL]: protocol,
  "messaging.envoi.operation": operation,
});
