import { expect, test } from "bun:test";
import { createClient } from "../../../src/http/client/index";
import { serve } from "../../../src/http/index";
import { createSystem, defineProtocol, type Metadata, Type, traceOf } from "../../../src/index";

const TRACE = { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", tracestate: "vendor=1" };

const Front = defineProtocol("front", {
  ask: { payload: Type.String(), reply: Type.String() },
  items: { payload: Type.String(), stream: Type.String() },
});
const Store = defineProtocol("store", { note: { payload: Type.String() } });
const Near = defineProtocol("near", { go: { payload: Type.String(), reply: Type.Array(Type.String()) } });

for (const over of ["HTTP", "a socket"] as const) {
  test(`over ${over}, what a handler behind a gateway does is in the trace of the handler that asked for it elsewhere`, async () => {
    await using far = createSystem();
    const seen: [string, Metadata][] = [];
    const store = far.spawn("store", Store, (ctx) => ({ note: (text) => void seen.push([text, ctx.metadata]) }));
    const front = far.spawn("front", Front, (ctx) => ({
      ask(text) {
        ctx.tell(store, "note", text);
        return text;
      },
      *items(text) {
        ctx.tell(store, "note", text);
        yield text;
      },
    }));
    const service = serve(far, {
      port: 0,
      hostname: "127.0.0.1",
      signals: [],
      expose: { front: { ref: front, operations: ["ask", "items"] } },
    });
    await using near = createSystem();
    const client = createClient<typeof service>({ url: service.url, socket: over === "a socket" });
    const asker = near.spawn("near", Near, (ctx) => ({
      async go(text) {
        const trace = traceOf(ctx.metadata) ?? {};
        const reply = (await client.front.ask("ask", text, trace))._unsafeUnwrap();
        (await client.front.tell("ask", `${text} told`, trace))._unsafeUnwrap();
        return [reply, ...(await Array.fromAsync(client.front.stream("items", `${text} read`, trace)))];
      },
    }));
    const metadata = { ...TRACE, baggage: "user=ada", user: "Ada" };
    expect((await asker.ask("go", "a", { metadata }))._unsafeUnwrap()).toEqual(["a", "a read"]);
    expect((await asker.ask("go", "b"))._unsafeUnwrap()).toEqual(["b", "b read"]);
    const expected = [
      ...["a", "a told", "a read"].map((text) => [text, TRACE]),
      ...["b", "b told", "b read"].map((text) => [text, {}]),
    ];
    expect(seen).toEqual(expected as typeof seen);
    client.close();
    await service.stop({ streams: 0, timeout: 1 });
  });
}
