import * as v from "valibot";
import { byHand } from "./by-hand";
import { convert } from "./valibot-schema";

export const open = () =>
  byHand("subjects/acp/starts/valibot.ts", (json) => {
    const schema = convert(json);
    return (value) => v.is(schema, value);
  });
