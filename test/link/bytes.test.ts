import { afterEach, describe, expect, test } from "bun:test";
import { address, defineProtocol, refSchema, Type } from "../../src/index";
import { type Binary, Bytes, createLink, transfer } from "../../src/link/index";
import { createPair, type Pair } from "./pair";

const Guest = defineProtocol("guest", { hear: { payload: Type.String() } });
const Shape = Type.Object({ width: Type.Number(), pixels: Bytes });
const Picture = defineProtocol("picture", {
  sum: { payload: Shape, reply: Type.Number() },
  put: { payload: Bytes },
  puts: { reply: Type.Array(Type.Number()) },
  draw: { payload: Type.Number(), reply: Shape },
  bare: { payload: Type.Number(), reply: Bytes },
  echo: { payload: Type.Unknown(), reply: Type.Unknown() },
  tiles: { payload: Type.Number(), stream: Bytes },
  hung: { payload: Type.Object({ by: refSchema(Guest), pixels: Bytes, beside: Type.Unknown() }), reply: Type.String() },
});

const both = { carriesBytes: true, far: { carriesBytes: true } };
const bytesOf = (...numbers: number[]) => Uint8Array.from(numbers);
const sumOf = (bytes: Iterable<number>) => [...bytes].reduce((sum, each) => sum + each, 0);

let pair: Pair;
afterEach(() => pair?.end());

function picture(options: Parameters<typeof createPair>[0] = both) {
  pair = createPair(options);
  const sums: number[] = [];
  const echoed: unknown[] = [];
  const made: Uint8Array[] = [];
  const make = (length: number) => {
    const bytes = transfer(new Uint8Array(length).fill(1));
    made.push(bytes);
    return bytes;
  };
  const there = pair.there.spawn("picture", Picture, () => ({
    sum: ({ width, pixels }) => width + sumOf(pixels),
    put: (bytes) => void sums.push(sumOf(bytes)),
    puts: () => sums,
    draw: (width) => ({ width, pixels: make(width) }),
    bare: (length) => make(length),
    echo(value) {
      echoed.push(value);
      return null;
    },
    async *tiles(count) {
      for (let n = 1; n <= count; n++) yield make(n);
    },
    hung: ({ by, pixels }) => `${by.address} ${pixels.length}`,
  }));
  return { ref: pair.reach(there, Picture), there, echoed, made };
}

describe("bytes that were marked by transfer()", () => {
  test("are bytes in the payload there, and have left here as soon as it is sent", async () => {
    const { ref } = picture();
    const pixels = bytesOf(1, 2, 3);
    const asked = ref.ask("sum", { width: 10, pixels: transfer(pixels) });
    expect(pixels.length).toBe(0);
    expect((await asked)._unsafeUnwrap()).toBe(16);
  });

  test("P2: leave what else an array has where it is, as JSON does", async () => {
    const { ref, echoed } = picture();
    const extra = transfer(bytesOf(4));
    const list = Object.assign([transfer(bytesOf(1, 2)), 3], { extra });
    expect((await ref.ask("echo", list)).isOk()).toBe(true);
    expect(echoed).toEqual([[bytesOf(1, 2), 3]]);
    expect(extra.length).toBe(1);
  });

  test("come in tells in their order among other messages, and bare", async () => {
    const { ref } = picture();
    for (const n of [1, 2, 3]) {
      ref.tell("put", transfer(bytesOf(n)));
      ref.tell("put", transfer(bytesOf(n, n)));
    }
    expect((await ref.offer("put", transfer(bytesOf(9)))).isOk()).toBe(true);
    expect((await ref.ask("puts"))._unsafeUnwrap()).toEqual([1, 2, 2, 4, 3, 6, 9]);
  });

  test("come in replies and items", async () => {
    const { ref, made } = picture();
    expect((await ref.ask("draw", 4))._unsafeUnwrap()).toEqual({ width: 4, pixels: bytesOf(1, 1, 1, 1) });
    expect((await ref.ask("bare", 2))._unsafeUnwrap()).toEqual(bytesOf(1, 1));
    expect((await Array.fromAsync(ref.stream("tiles", 3))).map(({ length }) => length)).toEqual([1, 2, 3]);
    expect(made.map(({ length }) => length)).toEqual([0, 0, 0, 0, 0]);
  });

  test("keep their class, at any place, beside texts that look like anything", async () => {
    const { ref, echoed } = picture();
    const value = () => ({
      a: { "b/c~": [null, bytesOf(1)], text: "@(i/1)", none: null },
      floats: Float32Array.of(0.5),
      view: new DataView(new ArrayBuffer(3)),
      memory: new ArrayBuffer(2),
      when: new Date(0),
    });
    const sent = value();
    for (const each of [sent.a["b/c~"][1], sent.floats, sent.view, sent.memory]) transfer(each as Binary);
    expect((await ref.ask("echo", sent)).isOk()).toBe(true);
    expect(echoed).toEqual([{ ...value(), when: "1970-01-01T00:00:00.000Z" }]);
    expect(sent.a["b/c~"][1]).toHaveLength(0);
    expect(sent.a.text).toBe("@(i/1)"); // The payload itself is as it was.
  });

  test("of a part of a buffer are copied, and the buffer stays", async () => {
    const { ref, echoed } = picture();
    const whole = bytesOf(1, 2, 3, 4);
    const parts = [whole.subarray(1, 3), new DataView(whole.buffer, 2), new Uint16Array(whole.buffer, 2)].map(transfer);
    expect((await ref.ask("echo", parts)).isOk()).toBe(true);
    const [bytes, view] = echoed[0] as [Uint8Array, DataView];
    expect([bytes, bytes.buffer.byteLength, view.byteLength, view.getUint8(0)]).toEqual([bytesOf(2, 3), 2, 2, 3]);
    expect(whole).toEqual(bytesOf(1, 2, 3, 4));
  });

  test("of a Buffer are a Uint8Array on both sides", async () => {
    const { ref, echoed } = picture();
    const marked = transfer(Buffer.from("abc"));
    expect(Buffer.isBuffer(marked)).toBe(false);
    expect((await ref.ask("echo", { marked })).isOk()).toBe(true);
    expect(echoed).toEqual([{ marked: new TextEncoder().encode("abc") }]);
  });

  test("go beside references", async () => {
    const { ref } = picture();
    const by = pair.here.spawn("ada", Guest, () => ({ hear() {} }));
    const hung = await ref.ask("hung", { by, pixels: transfer(bytesOf(1, 2)), beside: null });
    expect(hung._unsafeUnwrap()).toBe("@(here/ada) 2");
  });

  test("reach an actor of the same system as they are", async () => {
    const { there } = picture();
    const pixels = bytesOf(1, 2);
    expect((await there.ask("sum", { width: 0, pixels: transfer(pixels) }))._unsafeUnwrap()).toBe(3);
    expect(pixels).toHaveLength(2);
  });

  test("are validated there", async () => {
    const { ref } = picture();
    const error = (
      await ref.ask("sum", { width: 1, pixels: transfer(Float32Array.of(1)) as never })
    )._unsafeUnwrapErr();
    expect(error).toMatchObject({
      kind: "invalid-payload",
      issues: [{ path: "/pixels", message: "must be a Uint8Array" }],
    });
  });
});

describe("bytes that cannot leave are refused with their path, stay whole, and harm no other message", () => {
  const marked = () => transfer(bytesOf(1, 2));
  const cycle: unknown[] = [];
  cycle.push([cycle, cycle]);

  test("those that were not marked", async () => {
    const { ref } = picture();
    for (const bytes of [bytesOf(1), new ArrayBuffer(1), new DataView(new ArrayBuffer(1))]) {
      const error = (await ref.ask("echo", { beside: marked(), deep: [bytes] }))._unsafeUnwrapErr();
      expect(error).toMatchObject({ kind: "invalid-payload", issues: [{ path: "/deep/0" }] });
      expect(error.message).toContain("transfer(bytes)");
    }
  });

  test("those that left before", async () => {
    const { ref } = picture();
    const bytes = marked();
    const [first, second] = [ref.ask("echo", { bytes }), ref.ask("echo", { bytes })];
    expect((await first).isOk()).toBe(true);
    const error = (await second)._unsafeUnwrapErr();
    expect(error).toMatchObject({ kind: "invalid-payload", issues: [{ path: "/bytes" }] });
    expect(error.message).toContain("has left already");
  });

  test("those that a message has twice", async () => {
    const { ref } = picture();
    const bytes = marked();
    const error = (await ref.ask("echo", [bytes, transfer(new Int8Array(bytes.buffer))]))._unsafeUnwrapErr();
    expect(error).toMatchObject({ kind: "invalid-payload", issues: [{ path: "/1" }] });
    expect(bytes).toHaveLength(2);
  });

  test.each([
    ["a bigint beside them", { beside: 1n }, {}, "invalid-payload"],
    ["a cycle beside them", { beside: cycle }, {}, "invalid-payload"],
    ["metadata that cannot travel", {}, { metadata: { odd: 1n } }, "invalid-payload"],
    ["a text that is too large", { beside: "x".repeat(3_000) }, {}, "payload-too-large"],
  ])("those of a message with %s", async (_, beside, options, kind) => {
    const { ref } = picture({ ...both, maxBytes: 2_000 });
    const bytes = marked();
    const asked = await ref.ask("echo", { bytes, ...beside }, options);
    expect(asked._unsafeUnwrapErr().kind).toBe(kind as never);
    expect(bytes).toHaveLength(2);
  });

  test("those of a message that is withheld, or whose connection is closed", async () => {
    let reason: unknown;
    const { ref } = picture({ ...both, withheldBy: () => reason });
    const bytes = marked();
    reason = new Error("not now");
    expect((await ref.ask("echo", { bytes }))._unsafeUnwrapErr().kind).toBe("unreachable");
    reason = undefined;
    pair.shut();
    const others = ref.ask("echo", 1);
    expect((await ref.ask("echo", { bytes }))._unsafeUnwrapErr().kind).toBe("unreachable");
    expect((await others)._unsafeUnwrapErr().kind).toBe("unreachable");
    pair.link.lost(new Error("gone"), "timeout");
    expect((await ref.ask("echo", { bytes }))._unsafeUnwrapErr().kind).toBe("unreachable");
    expect(bytes).toHaveLength(2);
  });

  test("those of a message before which the connection is lost in the same turn", async () => {
    pair = createPair();
    let sent = 0;
    const link = createLink({
      system: pair.here,
      prefix: "lost/",
      carriesBytes: true,
      send() {
        sent++;
        link.lost(new Error("the cable is out"), "unreachable");
        return true;
      },
      exposed: () => undefined,
    });
    const ref = link.ref(address("picture"), Picture);
    const bytes = marked();
    const results = await Promise.all([ref.ask("echo", 1), ref.ask("echo", { bytes })]);
    for (const result of results) expect(result._unsafeUnwrapErr().kind).toBe("unreachable");
    expect([sent, bytes.length, link.waiting]).toEqual([1, 2, 0]);
  });

  test("those of a link that carries none, in both directions", async () => {
    const { ref, made } = picture({});
    const bytes = marked();
    const error = (await ref.ask("echo", { bytes }))._unsafeUnwrapErr();
    expect(error).toMatchObject({ kind: "invalid-payload", issues: [{ path: "/bytes" }] });
    const reply = (await ref.ask("draw", 3))._unsafeUnwrapErr();
    expect(reply).toMatchObject({ kind: "handler-failed", cause: expect.stringContaining("/pixels is binary data") });
    const read = Array.fromAsync(ref.stream("tiles", 3)).catch((thrown: unknown) => thrown);
    expect(await read).toMatchObject({ kind: "handler-failed" });
    expect([bytes, ...made].map(({ length }) => length)).not.toContain(0);
  });
});

test("transfer() takes binary data alone, and no memory that is shared", () => {
  expect(() => transfer("bytes" as never)).toThrow("takes an ArrayBuffer, a typed array or a DataView; got string");
  expect(() => transfer(new Uint8Array(new SharedArrayBuffer(1)))).toThrow("no shared memory");
});

describe("P18: a text whose bytes do not fit its places is no frame, and throws nothing", () => {
  const tell = (payload: unknown) => [1, 1, "put", 0, 0, payload];
  test.each<[string, unknown, unknown[]]>([
    ["bytes that are not there", [[16, [[]]], tell(null)], []],
    ["more bytes than places", [[16, [[]]], tell(null)], [bytesOf(1), bytesOf(2)]],
    ["bytes that are none", [[16, [[]]], tell(null)], ["bytes"]],
    ["bytes for a text without places", [tell(null)], [bytesOf(1)]],
    ["no payload", [[16, [[]]]], [bytesOf(1)]],
    [
      "a frame without a payload",
      [
        [16, [[]]],
        [7, 1],
      ],
      [bytesOf(1)],
    ],
    [
      "a frame of no known code",
      [
        [16, [[]]],
        ["toString", 1],
      ],
      [bytesOf(1)],
    ],
    ["paths that are none", [[16, 7], tell(null)], [bytesOf(1)]],
    ["a path that is none", [[16, ["length"]], tell(null)], [bytesOf(1)]],
    ["a path that leads nowhere", [[16, [["a", "b"]]], tell({ a: null })], [bytesOf(1)]],
    ["a path to what every object has", [[16, [["__proto__", "__proto__"]]], tell({})], [bytesOf(1)]],
    ["a path with keys that are none", [[16, [[{ a: 1 }]]], tell({})], [bytesOf(1)]],
    ["a place that is taken", [[16, [["a"]]], tell({ a: 1 })], [bytesOf(1)]],
    ["one place twice", [[16, [["a"], ["a"]]], tell({ a: null })], [bytesOf(1), bytesOf(2)]],
    ["nothing at all", [], [bytesOf(1)]],
  ])("%s", async (_, frames, bytes) => {
    const { ref } = picture();
    await ref.ask("puts");
    expect(pair.far.take(JSON.stringify(frames), bytes)).toBe(false);
    expect((await ref.ask("puts"))._unsafeUnwrap()).toEqual([]);
  });

  test("a text without bytes that speaks of some", async () => {
    const { ref } = picture();
    await ref.ask("puts");
    expect(pair.far.take(JSON.stringify([[16, [[]]], tell(null)]))).toBe(false);
    expect(pair.far.take(JSON.stringify([[16, "a"], tell(null)]))).toBe(false);
  });
});
