/** A client's first message. */
export const INITIALIZE =
  '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"fs":{}}}}';

type Schema = Readonly<Record<string, unknown>>;
const flag = { type: "boolean" } as const;
const text = { type: "string" } as const;
/** Its params, as far as an agent looks at them. */
export const schema: Schema = {
  type: "object",
  properties: {
    protocolVersion: { type: "integer", minimum: 0 },
    clientInfo: { type: "object", properties: { name: text, version: text }, required: ["name", "version"] },
    clientCapabilities: {
      type: "object",
      properties: {
        fs: { type: "object", properties: { readTextFile: flag, writeTextFile: flag } },
        terminal: flag,
      },
    },
  },
  required: ["protocolVersion"],
};

/** Answers it by hand, once it has been checked; the process ends with 42. */
export function answer(isRight: (params: unknown) => boolean): void {
  const { id, params } = JSON.parse(INITIALIZE);
  const result = { protocolVersion: 1, agentCapabilities: {}, authMethods: [] };
  const answered = isRight(params) ? JSON.stringify({ jsonrpc: "2.0", id, result }) : "";
  process.exit(JSON.parse(answered).result.protocolVersion === 1 ? 42 : 1);
}
