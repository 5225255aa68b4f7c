import { type TUnsafe, Type } from "typebox";
import { quote } from "../../message/address";
import { JSON_FORM } from "../../protocol/json-form";
import type { Protocol } from "../../protocol/protocol";
import { exposedAt, markPlace, type RefPlace, suits } from "./exposure";
import { ActorRef, type Ref } from "./ref";

/** A reference in JSON: the address of its actor. */
const ADDRESS = { type: "string", format: "envoi-address", pattern: "^@\\([^\\s()/]+(/[^\\s()/]+)*\\)$" };

/**
 * The schema of a reference in a payload or a reply. With a protocol, the reference's actor must have its operations.
 * Actors that refer to each other leave it out and give their operations as a type.
 *
 * A reference leaves the process as its address (`ref.toJSON`). A message from outside has that address in its place, and
 * the handler gets a reference: among what the door exposes (`receive(ref, { expose })`), and nothing else. A door that
 * exposes nothing refuses such a message as `invalid-payload`. An address that `system.resolve` opens when it is needed
 * becomes a reference only where the schema names a protocol, and no address does inside of a recursive schema.
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
  const place: RefPlace = { operations: protocol?.operations ?? null, protocol };
  const isOne = (value: unknown): boolean =>
    ActorRef.is(value) ? suits(value, place) : exposedAt(value, place) !== undefined;
  markPlace(isOne, place);
  const whose = protocol === undefined ? "" : ` that has the operations of "${protocol.name}"`;
  return Type.Unsafe(
    Type.Refine(Type.Unsafe({ [JSON_FORM]: ADDRESS }), isOne, () => `must be a reference to an actor${whose}`),
  );
}
