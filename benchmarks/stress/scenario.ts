/** The published stress scenario, in a process of its own: messages over streaming, files and code, in batches. */
import { type AskResult, address, createMessage, createSystem, defineProtocol, type Router, Type } from "envoi";
import { spawnCodeExecution, spawnFileSystem } from "envoi/tools";
import { letters } from "../harness/file-samples";
import { liveHeap } from "../harness/heap";
import { disk, makeFolder } from "../harness/places";
import { serveParent } from "./child";
import { RequestTimes } from "./requests";
import type { Latency, Scenario } from "./results";

export const BATCH = 50;
/** Items of a stream. */
const ITEMS = 10;
const BYTES = 100;
const Source = defineProtocol("source", { count: { payload: Type.Number(), stream: Type.Number() } });
const [SOURCE, FILES, CODE] = [address("source"), address("files"), address("code")];
const CONTENT = letters(BYTES, 0);

type Value = { readonly value?: unknown; readonly size?: number; readonly content?: string };

function replied(answer: AskResult): Value {
  if (answer.isErr()) throw new Error(answer.error.message);
  // The router knows no types; the protocols of tools say so.
  const reply = answer.value as { ok: true; value: Value } | { ok: false; error: { message: string } };
  if (!reply.ok) throw new Error(reply.error.message);
  return reply.value;
}

function expectDone(isDone: boolean, what: string): void {
  if (!isDone) throw new Error(`${what} gave something else than it should.`);
}

/** One message of each kind; each is done when what came of it is what should. */
function kindsOf(router: Router): readonly (readonly [kind: string, work: (index: number) => Promise<void>])[] {
  const stream = async (index: number) => {
    let next = index;
    for await (const item of router.stream(createMessage(SOURCE, "count", index))) if (item === next) next++;
    expectDone(next === index + ITEMS, "A stream");
  };
  const files = async (index: number) => {
    const path = `file-${(index / 6) & 15}.txt`;
    if (index % 2 === 0) {
      const written = await router.ask(createMessage(FILES, "write", { path, content: CONTENT }));
      expectDone(replied(written).size === BYTES, "A write");
    } else {
      const read = await router.ask(createMessage(FILES, "read", { path }));
      expectDone(replied(read).content === CONTENT, "A read");
    }
  };
  const code = async (index: number) => {
    const ran = await router.ask(createMessage(CODE, "execute", { code: "(2 + 3) * 4 + input", input: index }));
    expectDone(replied(ran).value === 20 + index, "An execution");
  };
  return [
    ["streaming", stream],
    ["files", files],
    ["code", code],
  ];
}

async function scenario(messages: number, isolation: Scenario["isolation"]): Promise<Scenario> {
  const folder = makeFolder(disk, "envoi-scenario-");
  const system = createSystem();
  try {
    system.spawn("source", Source, () => ({
      *count(from) {
        for (let i = 0; i < ITEMS; i++) yield from + i;
      },
    }));
    spawnFileSystem(system, { root: folder.path });
    spawnCodeExecution(system, { isolation });
    const kinds = kindsOf(system.router);
    const run = async (count: number, note: (kind: string, milliseconds: number) => void) => {
      for (let sent = 0; sent < count; sent += BATCH) {
        const batch: Promise<void>[] = [];
        for (let index = sent; index < Math.min(count, sent + BATCH); index++) {
          const [kind, work] = kinds[index % kinds.length] ?? ["", async () => {}];
          const start = performance.now();
          batch.push(work(index).then(() => note(kind, performance.now() - start)));
        }
        await Promise.all(batch);
      }
    };
    // The files that are read are there, and what starts once has started: that is measured elsewhere.
    for (let index = 0; index < 16; index++) {
      await system.router.ask(createMessage(FILES, "write", { path: `file-${index}.txt`, content: CONTENT }));
    }
    await run(BATCH * 4, () => {});
    const latencies = new Map(kinds.map(([kind]) => [kind, new RequestTimes()]));
    const heap = liveHeap();
    const start = performance.now();
    await run(messages, (kind, milliseconds) => latencies.get(kind)?.record(milliseconds));
    const seconds = (performance.now() - start) / 1_000;
    const heapGrowth = liveHeap() - heap;
    const summaries = Object.fromEntries(
      [...latencies].map(([kind, each]): [string, Latency] => [kind, each.summary()]),
    );
    const completed = Object.values(summaries).reduce((sum, { count }) => sum + count, 0);
    expectDone(completed === messages, "The scenario");
    return { messages, batch: BATCH, isolation, throughput: messages / seconds, heapGrowth, kinds: summaries };
  } finally {
    await system.shutdown();
    folder.remove();
  }
}

/** What the process that started this one may call. */
export interface ScenarioHandlers extends Record<string, (argument: never) => unknown> {
  readonly run: (asked: Pick<Scenario, "messages" | "isolation">) => Promise<Scenario>;
}

if (import.meta.main) {
  const handlers: ScenarioHandlers = { run: ({ messages, isolation }) => scenario(messages, isolation) };
  serveParent(handlers);
}
