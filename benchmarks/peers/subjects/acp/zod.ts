import { z } from "zod";
import { byHand } from "./by-hand";

export const open = () =>
  byHand("subjects/acp/starts/zod.ts", (json) => {
    const schema = z.fromJSONSchema(json);
    return (value) => schema.safeParse(value).success;
  });
