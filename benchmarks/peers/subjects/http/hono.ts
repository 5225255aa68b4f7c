import { tbValidator } from "@hono/typebox-validator";
import { Type } from "@sinclair/typebox";
import { Hono } from "hono";
import { type Started, startServer } from "../../../subjects/http-process";

const Order = Type.Object({
  item: Type.String(),
  count: Type.Integer(),
  tags: Type.Array(Type.String()),
  note: Type.String(),
});

export function start(): Started {
  const app = new Hono();
  app.post("/actors/desk/take", tbValidator("json", Order), (c) => c.json(c.req.valid("json")));
  const { port = 0 } = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: app.fetch });
  return { port };
}

export const open = () => startServer(import.meta.url, "start");
