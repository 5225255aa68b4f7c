import { jsonSchemaOf } from "envoi";
import { AcpAgent, AcpClient } from "envoi/acp";
import { updated } from "../../../subjects/acp";
import type { AcpPeer, Decode, PeerLevel } from "../../acp";
import { Lacks } from "../../room";

type Schema = Readonly<Record<string, unknown>>;
type Check = (value: unknown) => boolean;

const text = { type: "string" };
const object = (properties: Schema): Schema => ({ type: "object", properties, required: Object.keys(properties) });
const SCHEMAS: Readonly<Record<string, Schema>> = {
  envelope: object({ jsonrpc: { const: "2.0" }, method: text, params: { type: "object" } }),
  narrow: object({ sessionId: text, update: object({ sessionUpdate: text }) }),
  "session/update": jsonSchemaOf(AcpClient).update.input ?? {},
  "session/prompt": jsonSchemaOf(AcpAgent).prompt.input ?? {},
};

interface Message {
  readonly id?: number;
  readonly method: string;
  readonly params: unknown;
}

/** A peer that is a library of schemas: what one would write around it by hand. */
export function byHand(start: string, compile: (schema: Schema) => Check): AcpPeer {
  const checks = new Map(Object.entries(SCHEMAS).map(([name, schema]) => [name, compile(schema)]));
  const by = (name: string): Check => {
    const check = checks.get(name);
    if (check === undefined) throw new Error(`there is no schema ${name}`);
    return check;
  };
  const [isEnvelope, isNarrow] = [by("envelope"), by("narrow")];
  let handled = 0;
  const handlers = new Map([
    ["session/update", () => void handled++],
    ["session/prompt", () => void handled++],
  ]);
  let refused = 0;
  const answer = (answered: string) => void (answered.includes("-32602") && refused++);
  const params = new Map<PeerLevel, (message: Message) => boolean>([
    ["envelope", () => true],
    ["narrow", (message) => isNarrow(message.params)],
    ["full", (message) => checks.get(message.method)?.(message.params) ?? false],
  ]);
  return {
    start,
    decode(level): Decode {
      const fits = params.get(level);
      if (fits === undefined) throw new Lacks("it is `JSON.parse`");
      return (all, count) => {
        handled = refused = 0;
        for (let index = 0; index < count; index++) {
          const message = JSON.parse(all[index % all.length] ?? "");
          if (isEnvelope(message) && fits(message)) handlers.get(message.method)?.();
          else
            answer(
              JSON.stringify({ jsonrpc: "2.0", id: message.id, error: { code: -32602, message: "Invalid params" } }),
            );
        }
        return handled + refused;
      };
    },
    encode(all, count) {
      const check = by("session/update");
      let length = 0;
      for (let index = 0; index < count; index++) {
        const message = { jsonrpc: "2.0", method: "session/update", params: updated(all[index % all.length] ?? {}) };
        if (!check(message.params)) return 0;
        length += JSON.stringify(message).length;
      }
      return length > count ? count : 0;
    },
  };
}
