import { z } from "zod";
import { answer, schema } from "./message";

const Params = z.fromJSONSchema(schema);
answer((params) => Params.safeParse(params).success);
