import { defineProtocol, type System, Type } from "envoi";
import { type Channel, channelPair, createPeer, type Peer } from "envoi/rpc";
import { Completion, type Prepared } from "../harness/suite";
import { ByHand, quiet } from "./rpc-by-hand";

// Messages like those of an editor and its agent, and a peer that takes them.

const Content = Type.Union([
  Type.Object({ type: Type.Literal("text"), text: Type.String() }),
  Type.Object({ type: Type.Literal("image"), data: Type.String(), mimeType: Type.String() }),
  Type.Object({ type: Type.Literal("resource_link"), uri: Type.String(), name: Type.String() }),
  Type.Object({
    type: Type.Literal("resource"),
    resource: Type.Object({ uri: Type.String(), text: Type.String(), mimeType: Type.Optional(Type.String()) }),
  }),
]);
const Location = Type.Object({ path: Type.String(), line: Type.Optional(Type.Integer()) });
const Call = {
  toolCallId: Type.String(),
  status: Type.Optional(Type.Enum(["pending", "in_progress", "completed", "failed"])),
  content: Type.Optional(Type.Array(Type.Object({ type: Type.Literal("content"), content: Content }))),
  locations: Type.Optional(Type.Array(Location)),
};
const Update = Type.Union([
  Type.Object({ sessionUpdate: Type.Literal("agent_message_chunk"), content: Content }),
  Type.Object({ sessionUpdate: Type.Literal("agent_thought_chunk"), content: Content }),
  Type.Object({ sessionUpdate: Type.Literal("user_message_chunk"), content: Content }),
  Type.Object({ sessionUpdate: Type.Literal("tool_call"), title: Type.String(), kind: Type.String(), ...Call }),
  Type.Object({ sessionUpdate: Type.Literal("tool_call_update"), ...Call }),
  Type.Object({
    sessionUpdate: Type.Literal("plan"),
    entries: Type.Array(
      Type.Object({
        content: Type.String(),
        priority: Type.Enum(["high", "medium", "low"]),
        status: Type.Enum(["pending", "in_progress", "completed"]),
      }),
    ),
  }),
]);
const Updated = Type.Object({ sessionId: Type.String(), update: Update });
const Prompted = Type.Object({ sessionId: Type.String(), prompt: Type.Array(Content) });

export const Desk = defineProtocol("desk", {
  update: { payload: Updated },
  prompt: { payload: Prompted, reply: Type.Object({ stopReason: Type.String() }) },
});

const SENTENCE = "The function reads the whole file before it looks at the first line, which is why it is slow. ";
const sessionId = "sess_0f8a2c1e5b7d4936";
const text = (length: number) => ({ type: "text", text: SENTENCE.repeat(length) });

/** The updates of an agent's turn: parts of its answer (some 100 tokens each), its plan, and calls of tools. */
const updates = [
  { sessionUpdate: "agent_message_chunk", content: text(4) },
  { sessionUpdate: "agent_thought_chunk", content: text(2) },
  {
    sessionUpdate: "tool_call",
    toolCallId: "call_17",
    title: "Reading src/reader.ts",
    kind: "read",
    status: "pending",
    locations: [{ path: "/home/ada/project/src/reader.ts", line: 12 }],
  },
  {
    sessionUpdate: "tool_call_update",
    toolCallId: "call_17",
    status: "completed",
    content: [
      { type: "content", content: { type: "text", text: 'for (const line of lines) {\n  yield line + "\\n";\n}\n' } },
    ],
  },
  {
    sessionUpdate: "plan",
    entries: ["Read the file", "Find the loop", "Write a test", "Mend it"].map((content, index) => ({
      content,
      priority: index < 2 ? "high" : "medium",
      status: index === 0 ? "completed" : "pending",
    })),
  },
];

const prompt = [
  { type: "text", text: "Why is this slow?" },
  {
    type: "resource",
    resource: { uri: "file:///home/ada/project/src/reader.ts", mimeType: "text/typescript", text: SENTENCE.repeat(3) },
  },
];

/** Notifications that are right. */
export const notices: readonly string[] = updates.map((update) =>
  JSON.stringify({ jsonrpc: "2.0", method: "session/update", params: { sessionId, update } }),
);
const requestBy = (method: string, params: object) => (id: number) =>
  JSON.stringify({ jsonrpc: "2.0", id, method, params });
const many = (make: (id: number) => string): readonly string[] => Array.from({ length: 1_000 }, (_, id) => make(id));
/** Requests that are right. */
export const requests = many(requestBy("session/prompt", { sessionId, prompt }));
/** Requests whose params do not fit: one text in them is a number. */
export const misfits = many(
  requestBy("session/prompt", {
    sessionId,
    prompt: [prompt[0], { type: "resource", resource: { uri: "file:///a", text: 7 } }],
  }),
);
/** Requests of a method that is not there. */
export const unknown = many(requestBy("session/compact", { sessionId, prompt }));
/** Texts that are JSON, and no messages. */
export const strays = many((id) => JSON.stringify({ id, method: "session/prompt", params: { sessionId, prompt } }));

/** Messages of a hostile side. Each is refused. A valid request follows after every ninety-nine of them. */
const WRONG: readonly ((id: number) => string)[] = [
  (id) => misfits[id] ?? "",
  (id) => unknown[id] ?? "",
  (id) => strays[id] ?? "",
  (id) => JSON.stringify({ jsonrpc: "2.0", id: id + 0.5, method: "session/prompt", params: { sessionId, prompt } }),
  (id) => JSON.stringify({ jsonrpc: "2.0", id, method: "session/prompt", params: SENTENCE }),
  (id) => `{"jsonrpc":"2.0","id":${id},"method":"session/prompt","params":{"__proto__":${JSON.stringify({ prompt })}}}`,
  (id) => (requests[id] ?? "").slice(0, -9),
];
export const flood = many((id) => (id % 100 === 99 ? requests[id] : WRONG[id % WRONG.length]?.(id)) ?? "");

function serve(system: System, channel: Channel, onUpdate: () => void): Peer {
  const ref = system.spawn("desk", Desk, () => ({
    update: () => onUpdate(),
    prompt: () => ({ stopReason: "end_turn" }),
  }));
  return createPeer(system, channel, {
    serves: { "session/update": { ref, operation: "update" }, "session/prompt": { ref, operation: "prompt" } },
    most: 10_000,
  });
}

/**
 * Texts that a peer takes, until the last was handled or answered.
 *
 * @param answers what each answer contains; null for notifications.
 */
export function taken(operations: number, texts: readonly string[], answers: string | null): Prepared {
  const system = quiet();
  const completion = new Completion();
  let isRight = true;
  const channel = new ByHand((sent) => {
    if (answers === null || !sent.includes(answers)) isRight = false;
    completion.arrive();
  });
  const peer = serve(system, channel, completion.arrive);
  const { length } = texts;
  const run = async () => {
    const done = completion.expect(operations);
    const { events } = channel;
    for (let index = 0; index < operations; index++) events?.text(texts[index % length] as string); // There are some.
    await done;
  };
  const verify = () => {
    if (!isRight || peer.counts.orphaned > 0) throw new Error("an answer was another one");
  };
  const teardown = async () => {
    peer.close();
    await system.shutdown();
  };
  return { run, completed: completion.completed, verify, teardown };
}

/** Asks one after the other, by a pair in memory; gives the microseconds of one, the median of batches. */
export async function roundTrip(count: number): Promise<number> {
  const system = quiet();
  const [here, there] = channelPair();
  serve(system, there, () => {});
  const { refs } = createPeer(system, here, {
    calls: { agent: { protocol: Desk, methods: { prompt: "session/prompt" } } },
  });
  const payload = { sessionId, prompt: [{ type: "text" as const, text: "Why is this slow?" }] };
  const microseconds = await inBatches(count, async () => {
    const reply = await refs.agent.ask("prompt", payload);
    if (!reply.isOk() || reply.value.stopReason !== "end_turn") throw new Error("a reply was another one");
  });
  await system.shutdown();
  return microseconds;
}

/** The same by hand, without checks, timeouts and actors: each side writes, parses, and keeps what waits in a map. */
export async function rawRoundTrip(count: number): Promise<number> {
  const waiting = new Map<number, (value: { stopReason: string }) => void>();
  let last = 0;
  const toThere = (sent: string) =>
    queueMicrotask(() => {
      const { id, method } = JSON.parse(sent);
      if (method === "session/prompt")
        toHere(JSON.stringify({ jsonrpc: "2.0", id, result: { stopReason: "end_turn" } }));
    });
  const toHere = (sent: string) =>
    queueMicrotask(() => {
      const { id, result } = JSON.parse(sent);
      const resolve = waiting.get(id);
      waiting.delete(id);
      resolve?.(result);
    });
  const params = { sessionId, prompt: [{ type: "text", text: "Why is this slow?" }] };
  return inBatches(count, async () => {
    const reply = await new Promise<{ stopReason: string }>((resolve) => {
      const id = ++last;
      waiting.set(id, resolve);
      toThere(JSON.stringify({ jsonrpc: "2.0", id, method: "session/prompt", params }));
    });
    if (reply.stopReason !== "end_turn") throw new Error("a reply was another one");
  });
}

const BATCH = 1_000;

async function inBatches(count: number, once: () => Promise<void>): Promise<number> {
  const times: number[] = [];
  for (let done = 0; done < count; done += BATCH) {
    const start = performance.now();
    for (let index = 0; index < BATCH; index++) await once();
    times.push(((performance.now() - start) * 1_000) / BATCH);
  }
  return times.toSorted((a, b) => a - b)[times.length >> 1] ?? Number.NaN;
}
