import { createGateway, type Gateway, type GatewayOptions } from "../../../src/http/index";
import { createSystem, defineProtocol, expose, type System, type SystemOptions, Type } from "../../../src/index";

const Note = Type.Object(
  {
    id: Type.Integer({ minimum: 1 }),
    text: Type.String({ maxLength: 200 }),
    tags: Type.Optional(Type.Array(Type.String({ maxLength: 20 }), { maxItems: 5 })),
  },
  { additionalProperties: false },
);

/** A protocol with an operation of each kind. */
export const Notes = defineProtocol("notes", {
  write: { payload: Note, reply: Type.Integer(), description: "Keeps a note.", hints: { idempotent: true } },
  read: {
    payload: Type.Integer({ minimum: 1 }),
    reply: Type.Union([Note, Type.Undefined()]),
    hints: { readOnly: true },
  },
  count: { reply: Type.Integer(), hints: { readOnly: true } },
  drop: { payload: Type.Integer(), hints: { destructive: true } },
  forget: {},
  tree: {
    payload: Type.Cyclic({ Tree: Type.Object({ text: Type.String(), below: Type.Array(Type.Ref("Tree")) }) }, "Tree"),
    reply: Type.Integer(),
  },
  search: { payload: Type.String({ maxLength: 50 }), stream: Note, hints: { readOnly: true } },
  follow: { stream: Type.Integer() },
  speak: { payload: Type.Object({ prompt: Type.String() }), stream: Type.String() },
  secret: { reply: Type.String() },
});

export type Tree = { readonly text: string; readonly below: readonly Tree[] };

const sizeOf = ({ below }: Tree): number => below.reduce((sum, each) => sum + sizeOf(each), 1);

/** A service of notes, which is made for the tests of documents. */
export function notesService(
  options: Omit<GatewayOptions, "expose"> = {},
  systemOptions: SystemOptions = { metrics: { sample: 1 } },
): { readonly system: System; readonly gateway: Gateway; readonly get: (path: string) => Promise<Response> } {
  const system = createSystem(systemOptions);
  const notes = system.spawn("notes", Notes, () => {
    const kept = new Map<number, { id: number; text: string; tags?: string[] }>();
    return {
      write: (note) => kept.set(note.id, note).size,
      read: (id) => kept.get(id),
      count: () => kept.size,
      drop: (id) => void kept.delete(id),
      forget: () => kept.clear(),
      tree: (tree) => sizeOf(tree),
      async *search(text) {
        for (const note of kept.values()) if (note.text.includes(text)) yield note;
      },
      async *follow() {
        for (let index = 0; index < 3; index++) yield index;
      },
      async *speak({ prompt }) {
        yield* prompt.slice(0, 20);
      },
      secret: () => {
        throw expose(new Error("Nobody is told."));
      },
    };
  });
  const gateway = createGateway(system, {
    name: "notes-service",
    version: "1.2.3",
    ...options,
    expose: {
      notes: {
        ref: notes,
        operations: {
          write: true,
          read: true,
          count: true,
          drop: true,
          forget: true,
          tree: true,
          search: true,
          follow: { resume: { for: 1_000 } },
          speak: { format: "ai-sdk" },
        },
      },
      counts: { ref: notes, operations: ["count"] },
    },
  });
  return { system, gateway, get: (path) => gateway.fetch(new Request(`http://notes.test${path}`)) };
}
