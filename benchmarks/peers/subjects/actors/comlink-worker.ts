/** The worker of comlink: an object whose methods are called from elsewhere. */
import { expose, type Remote, wrap } from "comlink";
import { type Handler, type Kind, kinds } from "../../actors/peer";

let handler: Handler = kinds.echo();
let handled = 0;
let other: Remote<Served> | undefined;

const served = {
  become(kind: Kind): void {
    handler = kinds[kind]();
  },
  take(message: unknown): unknown {
    handled++;
    return handler(message);
  },
  handled: (): number => handled,
  /** Takes calls of another worker. */
  serve(port: MessagePort): void {
    expose(served, port);
  },
  /** Calls another worker from now on. */
  join(port: MessagePort): void {
    other = wrap<Served>(port);
  },
  async play(count: number): Promise<number> {
    let right = 0;
    for (let i = 0; i < count; i++) if ((await other?.take(i)) === i) right++;
    return right;
  },
};
export type Served = typeof served;

expose(served);
