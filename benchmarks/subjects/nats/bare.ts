/** The same work without envoi, by the client of NATS, in a process of its own: `bare.ts URL`. */
import { connect } from "@nats-io/transport-node";
import { ORDER } from "../desk";

const nc = await connect({ servers: process.argv[2] ?? "" });
let taken = 0;
nc.subscribe("bare.say", { callback: (_, message) => void message.respond(message.data) });
nc.subscribe("bare.take", {
  callback: (_, message) => {
    if (message.json<{ quantity: number }>().quantity === 12) taken++;
  },
});
nc.subscribe("bare.taken", { callback: (_, message) => void message.respond(String(taken)) });
nc.subscribe("bare.list", {
  callback: (_, message) => {
    for (let left = Number(message.string()); left > 0; left--) nc.publish("bare.items", ORDER);
  },
});
await nc.flush();
process.stdout.write("here\n");
