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
import { literal, making } from "../harness/floors";
import { counted, type Declared, type Most, suiteOf, timed } from "../harness/rows";
import type { Floor } from "../harness/suite";

const to = address("echo");
const asked = createMessage(to, "say", "hi", { pattern: "ask", from: address("asker") });
const failure = new Error("the disk is full");

const uuid = making("uuid", "`crypto.randomUUID()`", () => crypto.randomUUID());
const concat = making("concat", "a template string with one variable part", (i) => `@(${i & 15})`);

/** A row that makes one value an operation; the last of each call is looked at. */
const made = <Value>(
  name: string,
  floor: Floor,
  make: (index: number) => Value,
  isRight: (value: Value, index: number) => boolean,
  most: Most,
): Declared =>
  timed(
    name,
    floor,
    (operations) => {
      let completed = 0;
      let last: Value | undefined;
      const run = () => {
        for (let i = 0; i < operations; i++) {
          last = make(completed++);
          do_not_optimize(last);
        }
      };
      const verify = () => {
        // Set by the calls that are being verified.
        if (!isRight(last as Value, completed - 1)) throw new Error(`it made ${JSON.stringify(last)}`);
      };
      return { run, completed: () => completed, verify };
    },
    most,
  );

const isMessage = (message: Message, index: number) =>
  message.to === to && message.payload === index && message.id.length > 0 && message.timestamp > 0;

/** Ids, none of them twice: each is later than the one before. */
function ids(name: string, generate: () => string, most: Most): Declared {
  let previous = "";
  const isNew = (id: string) => {
    const isLater = id > previous;
    previous = id;
    return isLater;
  };
  return made(name, uuid, generate, isNew, most);
}

export const unsent = (operations: number, width: number) =>
  counted(() => {
    let done = 0;
    for (let sent = 0; sent < operations; sent += width) {
      const messages: Message[] = [];
      for (let i = 0; i < width; i++) messages.push(createMessage(to, "say", i));
      do_not_optimize(messages);
      done += messages.length;
    }
    return done;
  });

const MESSAGE = "a message is one object of one shape; with its id and its time";
const TEXT = "an address is checked letter by letter; an id counts";

export const suite = suiteOf(
  "message-creation",
  "Making messages, replies, ids and addresses, warm; nothing is sent.",
  [
    made("createMessage (tell)", literal, (i) => createMessage(to, "say", i), isMessage, [2, 1.2, MESSAGE]),
    made(
      "createMessage (ask)",
      literal,
      (i) => createMessage(to, "say", i, { pattern: "ask" }),
      (message, index) => isMessage(message, index) && message.correlationId !== undefined,
      [2.2, 1.2, MESSAGE],
    ),
    made(
      "createMessage with metadata",
      literal,
      (i) => createMessage(to, "say", i, { metadata: { trace: i } }),
      (message, index) => isMessage(message, index) && message.metadata?.["trace"] === index,
      [2.6, 1.2, "its metadata is copied, so that a getter in it runs once, in the sender"],
    ),
    made(
      "address()",
      concat,
      (i) => address(`worker-${i & 15}`),
      (text, index) => text === `@(worker-${index & 15})`,
      [14, 5, TEXT],
    ),
    ids("generateMessageId()", generateMessageId, [0.14, 0.1, TEXT]),
    ids("generateCorrelationId()", generateCorrelationId, [0.15, 0.1, TEXT]),
    made(
      "createResponse()",
      literal,
      (i) => createResponse(asked, i),
      (reply, index) => reply.payload === index && reply.correlationId === asked.correlationId,
      [1.4, 1.1, MESSAGE],
    ),
    made(
      "createErrorResponse()",
      literal,
      () => createErrorResponse(asked, failure),
      (reply) => !reply.ok && reply.error.kind === "handler-failed" && reply.error.message.includes(to),
      [5.4, 1.5, "its sentence is made for strangers: quoted names, no address, nothing that was thrown"],
    ),
    timed("batch: 100 messages", literal, (all) => unsent(all, 100), [1.4, 1.1, MESSAGE], { per: 100 }),
  ],
);
