import {
  address,
  createErrorResponse,
  createMessage,
  createResponse,
  generateCorrelationId,
  generateMessageId,
  type Message,
} from "envoi";
import { do_not_optimize } from "mitata";
import { concat, literal, uuid } from "../harness/floors";
import type { Floor, Row, Suite } from "../harness/suite";

const OPERATIONS = 1000;
const to = address("echo");
const asked = createMessage(to, "say", "hi", { pattern: "ask", from: address("asker") });
const failure = new Error("the disk is full");

/** A row that makes one value an operation; the last of each call is looked at. */
function making<Value>(
  name: string,
  floor: Floor,
  make: (index: number) => Value,
  isRight: (value: Value, index: number) => boolean,
): Row {
  const setup = () => {
    let completed = 0;
    let last: Value | undefined;
    const run = () => {
      for (let i = 0; i < OPERATIONS; i++) {
        last = make(completed++);
        do_not_optimize(last);
      }
    };
    const verify = () => {
      // Set by the calls that are being verified.
      if (!isRight(last as Value, completed - 1)) throw new Error(`it made ${JSON.stringify(last)}`);
    };
    return { run, completed: () => completed, verify };
  };
  return { kind: "timed", name, operations: OPERATIONS, per: 1, floor, setup };
}

const isMessage = (message: Message, index: number) =>
  message.to === to && message.payload === index && message.id.length > 0 && message.timestamp > 0;

/** A row that makes as many ids as operations, none of them twice. */
function ids(name: string, generate: () => string): Row {
  let previous = "";
  const isNew = (id: string) => {
    const isLater = id > previous;
    previous = id;
    return isLater;
  };
  return making(name, uuid, generate, isNew);
}

const batch: Row = {
  kind: "timed",
  name: "batch: 100 messages",
  operations: OPERATIONS,
  per: 100,
  floor: literal,
  setup: () => {
    let completed = 0;
    const run = () => {
      for (let sent = 0; sent < OPERATIONS; sent += 100) {
        const messages: Message[] = [];
        for (let i = 0; i < 100; i++) messages.push(createMessage(to, "say", i));
        do_not_optimize(messages);
        completed += messages.length;
      }
    };
    return { run, completed: () => completed };
  },
};

export const suite: Suite = {
  name: "message-creation",
  about: "Making messages, replies, ids and addresses, warm; nothing is sent.",
  rows: [
    making("createMessage (tell)", literal, (i) => createMessage(to, "say", i), isMessage),
    making(
      "createMessage (ask)",
      literal,
      (i) => createMessage(to, "say", i, { pattern: "ask" }),
      (message, index) => isMessage(message, index) && message.correlationId !== undefined,
    ),
    making(
      "createMessage with metadata",
      literal,
      (i) => createMessage(to, "say", i, { metadata: { trace: i } }),
      (message, index) => isMessage(message, index) && message.metadata?.["trace"] === index,
    ),
    making(
      "address()",
      concat,
      (i) => address(`worker-${i & 15}`),
      (made, index) => made === `@(worker-${index & 15})`,
    ),
    ids("generateMessageId()", generateMessageId),
    ids("generateCorrelationId()", generateCorrelationId),
    making(
      "createResponse()",
      literal,
      (i) => createResponse(asked, i),
      (reply, index) => reply.payload === index && reply.correlationId === asked.correlationId,
    ),
    making(
      "createErrorResponse()",
      literal,
      () => createErrorResponse(asked, failure),
      (reply) => !reply.ok && reply.error.kind === "handler-failed" && reply.error.message.includes(to),
    ),
    batch,
  ],
};
