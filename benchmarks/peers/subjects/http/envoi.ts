import { createSystem, defineProtocol, Type } from "envoi";
import { serve } from "envoi/http";
import { type Started, startServer } from "../../../subjects/http-process";

const Order = Type.Object({
  item: Type.String(),
  count: Type.Integer(),
  tags: Type.Array(Type.String()),
  note: Type.String(),
});
const Desk = defineProtocol("desk", { take: { payload: Order, reply: Order } });

export function start(): Started {
  const system = createSystem();
  const desk = system.spawn("desk", Desk, () => ({ take: (order) => order }));
  const options = { port: 0, hostname: "127.0.0.1", signals: [] };
  const { url } = serve(system, { ...options, expose: { desk: { ref: desk, operations: ["take"] } } });
  return { port: Number(url.port), path: "/actors/desk/take" };
}

export const open = () => startServer(import.meta.url, "start");
