import fastq, { type done } from "fastq";
import type { ActorPeer } from "../../actors/peer";

type Queue = fastq.queue<unknown, unknown>;

export function open(): ActorPeer<Queue> {
  return {
    spawn: (_name, handler) =>
      fastq<unknown, unknown, unknown>((message: unknown, callback: done<unknown>) => {
        const reply = handler(message);
        if (reply instanceof Promise) reply.then((value) => callback(null, value), callback);
        else callback(null, reply);
      }, 1),
    tell: (to, message) => to.push(message),
    ask: (to, message) =>
      new Promise((resolve, reject) =>
        to.push(message, (error, value) => (error === null ? resolve(value) : reject(error))),
      ),
  };
}
