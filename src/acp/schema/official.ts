import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { JsonSchema } from "../../index";
import { normalise } from "./normalise";

const place = import.meta.resolve("@agentclientprotocol/sdk/schema/v1/schema.json");

/**
 * The schema of each message of the protocol's version 1, by the name of its definition, read from the official package. The build puts
 * the result in place of this file (tsup.config.ts), so envoi's package reads nothing.
 */
export const schemas: Readonly<Record<string, JsonSchema>> = normalise(
  JSON.parse(readFileSync(fileURLToPath(place), "utf8")),
);
