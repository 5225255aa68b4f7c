import fastq, { type done } from "fastq";
import { type ActorPeer, type Handler, parentsBy } from "../../actors/peer";

type Queue = fastq.queue<unknown, unknown>;

const spawn = (_name: string, handler: Handler): Queue =>
  fastq<unknown, unknown, unknown>((message: unknown, callback: done<unknown>) => {
    const reply = handler(message);
    if (reply instanceof Promise) reply.then((value) => callback(null, value), callback);
    else callback(null, reply);
  }, 1);

export async function open(): Promise<ActorPeer<Queue>> {
  return {
    spawn,
    spawnParent: parentsBy(spawn, () => {}),
    tell: (to, message) => to.push(message),
    ask: (to, message) =>
      new Promise((resolve, reject) =>
        to.push(message, (error, value) => (error === null ? resolve(value) : reject(error))),
      ),
    valueOf: (answer) => answer,
  };
}
