import { ORDER } from "../desk";

export type Form = "thread" | "process";

/** A thread or a process that does the work of `bare.ts`. */
export interface BareSide {
  readonly pid: number;
  post(text: string): void;
  /** Told of each text that comes. */
  onText: (text: string) => void;
  /** Told once, as soon as the engine tells that it has ended. */
  onEnd: () => void;
  end(): Promise<void>;
}

const ENTRY = new URL("bare.ts", import.meta.url);

/** Starts it, and resolves when it hears. */
export async function openBare(form: Form): Promise<BareSide> {
  const here = Promise.withResolvers<void>();
  const gone = Promise.withResolvers<void>();
  const take = (text: string): void => (text === "h" ? here.resolve() : side.onText(text));
  const over = (): void => {
    gone.resolve();
    side.onEnd();
  };
  const carrier = form === "thread" ? thread(take, over) : child(take, over);
  const end = async (): Promise<void> => {
    carrier.post("x");
    await gone.promise;
  };
  const side: BareSide = { ...carrier, onText() {}, onEnd() {}, end };
  await here.promise;
  return side;
}

type Carried = Pick<BareSide, "pid" | "post">;

function thread(take: (text: string) => void, over: () => void): Carried {
  const worker = new Worker(ENTRY);
  worker.onmessage = ({ data }: MessageEvent<string>) => take(data);
  worker.addEventListener("close", over);
  return { pid: process.pid, post: (text) => worker.postMessage(text) };
}

function child(take: (text: string) => void, over: () => void): Carried {
  const started = Bun.spawn([process.execPath, ENTRY.pathname], {
    stdio: ["ignore", "inherit", "inherit"],
    serialization: "advanced", // The quicker one of Bun's two, of texts with quotes.
    ipc: take,
    onExit: over,
  });
  return { pid: started.pid, post: (text) => void started.send(text) };
}

/** As many bytes as an ask for an order takes in envoi, with a first letter that is no order of control. */
export const ASK_TEXT = `a[2,"zzz",1,"say",5000,0,0,${ORDER}]`;
