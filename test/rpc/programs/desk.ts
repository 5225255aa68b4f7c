import { createSystem, defineProtocol, type RefTo, Type } from "../../../src/index";
import { createPeer, stdioChannel } from "../../../src/rpc/index";

// A process that serves its parent, and asks it back. `exit` as its argument makes it end at the first note.

const Parent = defineProtocol("parent", {
  name: { payload: Type.Object({ of: Type.String() }), reply: Type.String() },
});
const Desk = defineProtocol("desk", {
  echo: { payload: Type.Object({ text: Type.String() }), reply: Type.String() },
  greet: { payload: Type.Object({ of: Type.String() }), reply: Type.String() },
  wait: { payload: Type.Object({ milliseconds: Type.Number() }), reply: Type.String() },
  note: {},
});

const system = createSystem();
const desk: RefTo<typeof Desk> = system.spawn(
  "desk",
  Desk,
  (ctx) => ({
    echo: ({ text }) => text,
    async greet({ of }) {
      const name = await ctx.ask(peer.refs.parent, "name", { of });
      return name.isOk() ? `good morning, ${name.value}` : name.error.kind;
    },
    async wait({ milliseconds }) {
      await Bun.sleep(milliseconds);
      return "slept";
    },
    note() {
      process.exit(3);
    },
  }),
  { concurrency: 100 },
);
const peer = createPeer(system, stdioChannel(), {
  serves: {
    echo: { ref: desk, operation: "echo" },
    greet: { ref: desk, operation: "greet" },
    wait: { ref: desk, operation: "wait" },
    note: { ref: desk, operation: "note" },
  },
  calls: { parent: { protocol: Parent, methods: { name: "name" } } },
});
const cause = await peer.closed;
console.error(cause === undefined ? "ended" : `ended by ${cause.message}`);
