/** The servers of the suite record, by name: the same gateway without a recording, with one, and with one that has transforms. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { createSystem, defineProtocol, Type } from "envoi";
import { serve } from "envoi/http";
import { drop, mask, type RecorderOptions, recorder, redact, replace } from "envoi/record";
import { disk, makeFolder } from "../harness/places";
import type { Started } from "./http-process";

const Order = Type.Object({
  item: Type.String(),
  count: Type.Integer(),
  tags: Type.Array(Type.String()),
  note: Type.String(),
});
const User = Type.Object({
  name: Type.String(),
  email: Type.String(),
  card: Type.String(),
  password: Type.String(),
  visits: Type.Array(Type.Object({ at: Type.String(), address: Type.String() })),
});
const Desk = defineProtocol("desk", {
  hello: { reply: Order, hints: { readOnly: true } },
  take: { payload: Order, reply: Order },
  hash: { payload: Order, reply: Type.String() },
  wait: { payload: Order, reply: Order },
  join: { payload: User, reply: User },
  copy: { payload: Type.Array(Order), reply: Type.Array(Order) },
});
const operations = ["hello", "take", "hash", "wait", "join", "copy"] as const;

/** Five transforms, of which four find something in the row of transforms. */
const transforms = [
  redact("*.email"),
  redact("**.ssn"),
  mask("*.card"),
  replace("*.visits[*].address", "somewhere"),
  drop("*.name"),
];

/** The way of recording that a server or a row has. */
export const MODES = { off: { mode: "off" }, record: {}, "with transforms": { transforms } } as const;
export type Mode = keyof typeof MODES;

const HELLO = { item: "tea", count: 3, tags: ["a", "b"], note: "hello world, this is a note" };

function hashed(order: unknown): string {
  const text = JSON.stringify(order);
  let hash = text;
  for (let i = 0; i < 1_000; i++) hash = createHash("sha256").update(text).digest("hex");
  return hash;
}

/** The lines of the recordings in a folder, by their kind. To read them as a replay does would take longer than to write them. */
export async function kindsIn(folder: string): Promise<Record<string, number>> {
  const kinds: Record<string, number> = {};
  for await (const path of new Bun.Glob("*.ndjson").scan({ cwd: folder, absolute: true })) {
    const text = await Bun.file(path).text();
    for (const [, kind = ""] of text.matchAll(/^{"kind":"(\w+)".*}$/gm)) kinds[kind] = (kinds[kind] ?? 0) + 1;
  }
  return kinds;
}

function start(options: Omit<RecorderOptions, "to">): Started {
  const system = createSystem();
  const folder = makeFolder(disk, "envoi-record-");
  const recording = recorder(system, {
    ...options,
    to: join(folder.path, "run.ndjson"),
    rotate: { keep: Number.POSITIVE_INFINITY },
    maxBuffer: 256 * 2 ** 20,
  });
  const handlers = {
    hello: () => HELLO,
    take: <Taken>(order: Taken) => order,
    hash: hashed,
    async wait<Taken>(order: Taken) {
      await Promise.all(Array.from({ length: 5 }, () => Bun.sleep(5)));
      return order;
    },
    join: <Taken>(user: Taken) => user,
    copy: <Taken>(orders: Taken) => orders,
  };
  const desk = { ref: system.spawn("desk", Desk, () => handlers, { concurrency: 1_000 }), operations };
  const { url } = serve(system, {
    ...{ port: 0, hostname: "127.0.0.1", signals: [], expose: { desk } },
    limits: { body: 4_000_000 },
  });
  /** Ends the recording. Gives the lines of its files, by their kind, and what it counted as dropped. */
  const recorded = async () => {
    await recording.close();
    const counted = { ...(await kindsIn(folder.path)), dropped: recording.counts.dropped.lines };
    folder.remove();
    return counted;
  };
  return { port: Number(url.port), calls: { recorded } };
}

export const off = () => start(MODES.off);
export const record = () => start(MODES.record);
export const transformed = () => start(MODES["with transforms"]);
