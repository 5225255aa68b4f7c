import { type TUnsafe, Type } from "typebox";
import { quote } from "../../message/address";
import { JSON_FORM } from "../../protocol/json-form";
import type { Operation, Protocol } from "../../protocol/protocol";
import { ActorRef, type Ref, recipientOf } from "./ref";

/** A reference in JSON: the address of its actor. */
const ADDRESS = { type: "string", format: "envoi-address", pattern: "^@\\([^\\s()/]+(/[^\\s()/]+)*\\)$" };

/**
 * The schema of a reference in a payload or a reply. With a protocol, the reference's actor must have its operations.
 * Actors that refer to each other leave it out and give their operations as a type. A reference does not leave the
 * process: a message from outside that should have one is refused as `invalid-payload`.
 *
 * @throws TypeError when it is given something that is no protocol.
 * @example
 * const Guest = defineProtocol("guest", { seat: { payload: Type.Number() } });
 * const Host = defineProtocol("host", {
 *   welcome: { payload: refSchema(Guest) },
 *   call: { payload: refSchema<{ answer: (text: string) => void }>() },
 * });
 */
export function refSchema<Signatures>(protocol?: Protocol<string, Signatures>): TUnsafe<Ref<Signatures>> {
  if (protocol !== undefined && typeof protocol?.operations !== "object") {
    throw new TypeError(`The protocol of a reference is what defineProtocol() returned; got ${quote(protocol)}.`);
  }
  const operations = Object.values(protocol?.operations ?? {});
  const isOne = (value: unknown): boolean =>
    ActorRef.is(value) &&
    operations.every((operation) => isLike(recipientOf(value).operation(operation.name), operation));
  const whose = protocol === undefined ? "" : ` that has the operations of "${protocol.name}"`;
  return Type.Unsafe(
    Type.Refine(Type.Unsafe({ [JSON_FORM]: ADDRESS }), isOne, () => `must be a reference to an actor${whose}`),
  );
}

/** True when calls of one operation fit the other one. A null operation belongs to an actor that takes any message. */
const isLike = (own: Operation | null | undefined, wanted: Operation): boolean =>
  own === null || (own?.hasPayload === wanted.hasPayload && own.isStream === wanted.isStream);
