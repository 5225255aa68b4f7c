/**
 * The process under load: `bun subject.ts MODULE SOCKET FOLDER`. It takes lines from a unix socket, has what the module opens
 * do the work, and answers.
 */
import { heapStats } from "bun:jsc";
import { rmSync } from "node:fs";
import { dirname } from "node:path";
import type { Audit } from "envoi";
import { serveParent } from "./child";
import { LineReader, LineWriter, type Request } from "./lines";

/** What came of a request: the number that it was made with, or the kind of an error. */
export type Outcome = number | string;

/** Does one operation and gives back the number once it has seen that the work was done, or the kind of the error. */
export type Operation = (number: number) => Promise<Outcome>;

/** What is under load: a module exports `open`, which makes it. */
export interface Subject {
  /** What can be asked of it. */
  readonly operations: Readonly<Record<string, Operation>>;
  /** What can be done to it meanwhile; see `Load.command`. */
  readonly commands?: Readonly<Record<string, (argument: unknown) => unknown>>;
  /** Where its messages are; see `router.audit()`. */
  audit(): Audit;
  close(): Promise<void>;
}

/** Makes a subject. @param folder An empty folder for what it keeps, which is removed in the end. */
export type Open = (folder: string) => Subject | Promise<Subject>;

/** Answered without any actor: what sockets, lines and promises cost. */
const BARE = "bare";

/** For messages whose askers gave up to be done with, in milliseconds. */
const PATIENCE = 10_000;

/** How the process under load is. */
export interface Look {
  readonly audit: Audit;
  /** Live heap after a forced collection, in bytes. */
  readonly heap: number;
  readonly rss: number;
}

/** How much it has used so far. */
export interface Usage {
  /** When that was, in milliseconds since the process began. */
  readonly at: number;
  /** Milliseconds of processors. */
  readonly processor: number;
  readonly rss: number;
}

const usage = (): Usage => {
  const { user, system } = process.cpuUsage();
  return { at: performance.now(), processor: (user + system) / 1_000, rss: process.memoryUsage.rss() };
};

/** What the process that started this one may call. */
export interface SubjectHandlers extends Record<string, (argument: never) => unknown> {
  readonly ready: () => Promise<void>;
  readonly look: () => Promise<Look>;
  /** Resolves once no message waits or runs; rejects when some still do after ten seconds. */
  readonly idle: () => Promise<void>;
  readonly usage: () => Usage;
  readonly command: (command: { readonly name: string; readonly argument: unknown }) => unknown;
}

class AnswerWriter {
  readonly #writer: LineWriter;
  #text = "";

  constructor(writer: LineWriter) {
    this.#writer = writer;
  }

  add(id: number, outcome: Outcome): void {
    const isFirst = this.#text === "";
    this.#text += `${isFirst ? "[" : ","}${id},${typeof outcome === "number" ? outcome : JSON.stringify(outcome)}`;
    if (isFirst) setImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#writer.write(`${this.#text}]\n`);
    this.#text = "";
  }
}

interface Connection {
  readonly reader: LineReader<Request>;
  readonly writer: LineWriter;
  readonly answers: AnswerWriter;
}

async function listen(socket: string, subject: Subject): Promise<void> {
  const bare: Operation = async (number) => number;
  const operations: Record<string, Operation> = { ...subject.operations, [BARE]: bare };
  const unknown: Operation = async () => "unknown-operation";
  Bun.listen<Connection>({
    unix: socket,
    socket: {
      open(client) {
        const writer = new LineWriter(client);
        client.data = { reader: new LineReader(), writer, answers: new AnswerWriter(writer) };
      },
      data({ data: { reader, answers } }, bytes) {
        for (const [id, name] of reader.read(bytes)) {
          (operations[name] ?? unknown)(id).then(
            (outcome) => answers.add(id, outcome),
            (thrown: unknown) => answers.add(id, `thrown: ${String(thrown)}`),
          );
        }
      },
      drain: ({ data: { writer } }) => writer.drain(),
    },
  });
}

if (import.meta.main) {
  const [module = "", socket = "", folder = ""] = process.argv.slice(2);
  const { open } = (await import(module)) as { readonly open: Open }; // What a subject's module exports.
  const opening = Promise.resolve(open(folder));
  const listening = opening.then((subject) => listen(socket, subject));
  listening.catch(() => {}); // Told to who asks whether this is ready.
  const commands: Record<string, (argument: unknown) => unknown> = {
    /** Blocks the event loop for so many milliseconds. */
    stall(milliseconds) {
      const end = performance.now() + Number(milliseconds);
      while (performance.now() < end);
    },
  };
  const handlers: SubjectHandlers = {
    ready: () => listening,
    async look() {
      const { audit } = await opening;
      Bun.gc(true);
      return { audit: audit(), heap: heapStats().heapSize, rss: process.memoryUsage.rss() };
    },
    async idle() {
      const { audit } = await opening;
      const end = performance.now() + PATIENCE;
      for (let { queued, running } = audit(); queued + running > 0; { queued, running } = audit()) {
        if (performance.now() > end)
          throw new Error(`${queued} messages wait and ${running} run, though nothing is asked.`);
        await Bun.sleep(10);
      }
    },
    usage,
    async command({ name, argument }) {
      const command = commands[name] ?? (await opening).commands?.[name];
      if (command === undefined) throw new Error(`There is no command ${name}.`);
      return command(argument);
    },
  };
  serveParent(handlers, async () => {
    await opening.then(({ close }) => close()).catch(() => {});
    rmSync(dirname(socket), { recursive: true, force: true }); // Whoever started this one may be gone.
  });
}
