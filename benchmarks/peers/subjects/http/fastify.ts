import fastify from "fastify";
import { type Started, startServer } from "../../../subjects/http-process";

const text = { type: "string" };
const order = {
  type: "object",
  properties: { item: text, count: { type: "integer" }, tags: { type: "array", items: text }, note: text },
  required: ["item", "count", "tags", "note"],
};

export async function start(): Promise<Started> {
  // By default it would take "3" for a number.
  const app = fastify({ ajv: { customOptions: { coerceTypes: false } } });
  app.post("/actors/desk/take", { schema: { body: order } }, async (request) => request.body);
  const url = await app.listen({ port: 0, host: "127.0.0.1" });
  return { port: Number(new URL(url).port) };
}

export const open = () => startServer(import.meta.url, "start");
