import * as v from "valibot";
import { convert } from "../valibot-schema";
import { answer, schema } from "./message";

const Params = convert(schema);
answer((params) => v.is(Params, params));
