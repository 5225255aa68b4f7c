import { Elysia, t } from "elysia";
import { type Started, startServer } from "../../../subjects/http-process";

const Order = t.Object({ item: t.String(), count: t.Integer(), tags: t.Array(t.String()), note: t.String() });

export function start(): Started {
  const app = new Elysia()
    .post("/actors/desk/take", ({ body }) => body, { body: Order })
    .listen({ port: 0, hostname: "127.0.0.1" });
  return { port: app.server?.port ?? 0 };
}

export const open = () => startServer(import.meta.url, "start");
