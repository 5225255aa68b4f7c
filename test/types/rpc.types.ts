import { type AnyRef, type AskResult, createSystem, defineProtocol, type Ref, Type } from "../../src";
import { type Channel, createPeer, type Peer } from "../../src/rpc";
import { type Equal, expectType } from "./expect";

const Editor = defineProtocol("editor", {
  read: { payload: Type.Object({ path: Type.String() }), reply: Type.String() },
  show: { payload: Type.Object({ path: Type.String() }) },
  ticks: { stream: Type.Number() },
});
const Files = defineProtocol("files", { total: { reply: Type.Number() } });

declare const channel: Channel;
declare const any: AnyRef;
const system = createSystem();

// ——— The parts of the other side are references of their protocols
const peer = createPeer(system, channel, {
  serves: {
    "fs/read": { ref: any, operation: "read" },
    "fs/list": { ref: () => undefined, operation: "list", needs: "lists" },
  },
  calls: {
    editor: { protocol: Editor, methods: { read: "editor/read", show: { method: "editor/show", needs: "shows" } } },
    files: { protocol: Files, methods: {} },
  },
});
const total = peer.refs.files.ask("total");
expectType<Equal<typeof total, Promise<AskResult<number>>>>();
const read: Promise<AskResult<string>> = peer.refs.editor.ask("read", { path: "a" });
const given: Ref<{ show: (payload: { path: string }) => void }> = peer.refs.editor;
peer.refs.editor.tell("show", { path: "a" });
// @ts-expect-error: there is no such part
void peer.refs.other;
// @ts-expect-error: the payload is another one
peer.refs.editor.tell("show", { path: 7 });
// @ts-expect-error: there is no such operation
createPeer(system, channel, { calls: { editor: { protocol: Editor, methods: { raed: "editor/read" } } } });
// @ts-expect-error: a method is a text
createPeer(system, channel, { calls: { editor: { protocol: Editor, methods: { read: 7 } } } });
// @ts-expect-error: there is no such convention
createPeer(system, channel, { cancel: "cancel" });
// @ts-expect-error: a method leads to an operation
createPeer(system, channel, { serves: { "fs/read": { ref: any } } });

// ——— Without calls there are no parts
const bare = createPeer(system, channel);
expectType<Equal<keyof typeof bare.refs, never>>();
const served: Peer = peer;

export { given, read, served };
