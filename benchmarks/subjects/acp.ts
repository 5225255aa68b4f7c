import { defineProtocol, type Handlers, type SignaturesOf, Type } from "envoi";
import { AcpAgent, AcpClient, AcpSession, connectAgent, serveAgent } from "envoi/acp";
import { channelPair, createPeer, type Serves } from "envoi/rpc";
import { ByHand, quiet } from "./rpc-by-hand";

// Messages of the Agent Client Protocol, and the roles that take them and send them.

const sessionId = "sess_0f8a2c1e5b7d4936";
const SENTENCE = "The function reads the whole file before it looks at the first line, which is why it is slow. ";
const chunk = (kind: string, text: string) => ({ sessionUpdate: kind, content: { type: "text", text } });
const location = { path: "/home/ada/project/src/reader.ts", line: 12 };

/** An update of an agent's turn: a piece of its answer or its thoughts, a call of a tool with a diff, or its plan. */
export const updateOf = (index: number): object =>
  [
    chunk("agent_message_chunk", `${SENTENCE}${index}`),
    chunk("agent_thought_chunk", `Look at line ${index}. `),
    {
      sessionUpdate: "tool_call",
      toolCallId: `call_${index}`,
      title: "Reading src/reader.ts",
      kind: "read",
      status: "pending",
      locations: [location],
    },
    {
      sessionUpdate: "tool_call_update",
      toolCallId: `call_${index}`,
      status: "completed",
      content: [
        {
          type: "diff",
          path: location.path,
          oldText: "for (const line of all)",
          newText: "for await (const line of lines)",
        },
      ],
    },
    {
      sessionUpdate: "plan",
      entries: ["Read the file", "Find the loop", "Mend it"].map((content, step) => ({
        content,
        priority: step < 2 ? "high" : "low",
        status: step === 0 ? "completed" : "pending",
      })),
    },
  ][index % 5] ?? {};
/** A piece of an answer of some 100 tokens. */
export const longOf = (index: number): object => chunk("agent_message_chunk", `${SENTENCE.repeat(4)}${index}`);

/** The params of a `session/update`. */
export const updated = (update: object) => ({ sessionId, update });
const many = (make: (index: number) => object): readonly string[] =>
  Array.from({ length: 1_000 }, (_, index) => JSON.stringify(make(index)));
const told = (make: (index: number) => object) =>
  many((index) => ({ jsonrpc: "2.0", method: "session/update", params: updated(make(index)) }));
/** Prompts whose last block has a number for its text, which nothing lets one leave out. */
const wrong = (make: (index: number) => object) =>
  many((id) => {
    const { content = { type: "text", text: SENTENCE } } = make(id) as { content?: unknown }; // As it is above.
    const prompt = [
      ...[content].flat().filter((block) => (block as { type: string }).type === "text"),
      { type: "text", text: 7 },
    ];
    return { jsonrpc: "2.0", id, method: "session/prompt", params: { sessionId, prompt } };
  });

/** Texts to be taken, a thousand of each kind. */
export const texts = {
  mixed: told(updateOf),
  long: told(longOf),
  "mixed, wrong": wrong(updateOf),
  "long, wrong": wrong(longOf),
} as const;
export type Kind = keyof typeof texts;

/** The parts of a message that are checked before it is passed on, by level. */
export const LEVELS = {
  envelope: Type.Unknown(),
  narrow: Type.Object({ sessionId: Type.String(), update: Type.Object({ sessionUpdate: Type.String() }) }),
} as const;
export type Level = keyof typeof LEVELS | "full";

/** Each operation of a role by one handler: a benchmark calls one of them. */
const handledBy = <Role extends typeof AcpClient | typeof AcpAgent>(role: Role, handle: () => object) =>
  Object.fromEntries(Object.keys(role.operations).map((name) => [name, handle])) as unknown as Handlers<
    SignaturesOf<Role>
  >; // One for each.

/** Takes texts by a peer of envoi: `arrive` is called for each that its actor handles, and for each answer. */
export function takenBy(
  level: Level,
  arrive: () => unknown,
): { take(text: string): void; refused(): number; close(): Promise<void> } {
  const system = quiet();
  const client =
    level === "full"
      ? system.spawn("client", AcpClient, () => handledBy(AcpClient, () => arrive() as object))
      : system.spawn("client", defineProtocol("client", { update: { payload: LEVELS[level] } }), () => ({
          update: () => void arrive(),
        }));
  const agent = system.spawn("agent", AcpAgent, () => handledBy(AcpAgent, () => ({ stopReason: "end_turn" })));
  const serves: Serves = {
    "session/update": { ref: client, operation: "update" },
    "session/prompt": { ref: agent, operation: "prompt" },
  };
  const channel = new ByHand(arrive);
  const peer = createPeer(system, channel, { serves, most: 10_000 });
  return {
    take: (text) => channel.events?.text(text),
    refused: () => peer.counts.refused,
    async close() {
      peer.close();
      await system.shutdown();
    },
  };
}

/** Tells a client at the other end of updates; `arrive` is called for each text that leaves. */
export function toldBy(arrive: (text: string) => unknown): { tell(update: object): void; close(): Promise<void> } {
  const system = quiet();
  const peer = createPeer(system, new ByHand(arrive), {
    calls: { client: { protocol: AcpClient, methods: { update: "session/update" } } },
  });
  const { client } = peer.refs;
  return {
    tell: (update) => client.tell("update", updated(update) as never), // As `updateOf` makes them.
    async close() {
      peer.close();
      await system.shutdown();
    },
  };
}

/** A turn of so many updates from an agent to its client, both of envoi, over a pair in memory; gives how many came. */
export async function turns(): Promise<{ turn(updates: number): Promise<number>; close(): Promise<void> }> {
  const system = quiet();
  let due = 0;
  system.resolve("sessions/", (_, id) =>
    system.spawn(id, AcpSession, () => ({
      *prompt() {
        for (let index = 0; index < due; index++) yield longOf(index) as never; // As `longOf` makes them.
      },
    })),
  );
  const [here, there] = channelPair();
  const about = { name: "bench", version: "1.0.0" };
  serveAgent(system, there, { ...about, sessions: { prefix: "sessions/", protocol: AcpSession } });
  const connected = await connectAgent(system, here, about);
  if (connected.isErr()) throw connected.error;
  const opened = await connected.value.newSession({ cwd: "/" });
  if (opened.isErr()) throw opened.error;
  const { ref } = opened.value;
  return {
    async turn(updates) {
      due = updates;
      let came = 0;
      for await (const item of ref.stream("prompt", { prompt: [] })) if ("sessionUpdate" in item) came++;
      return came;
    },
    async close() {
      connected.value.close();
      await system.shutdown();
    },
  };
}
