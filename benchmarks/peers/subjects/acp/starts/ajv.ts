import { Ajv } from "ajv";
import { answer, schema } from "./message";

answer(new Ajv({ strict: false }).compile(schema));
