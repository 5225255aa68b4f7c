import { Ajv2020 } from "ajv/dist/2020.js";
import { byHand } from "./by-hand";

export function open() {
  const ajv = new Ajv2020({ strict: false });
  return byHand("subjects/acp/starts/ajv.ts", (schema) => ajv.compile(schema));
}
