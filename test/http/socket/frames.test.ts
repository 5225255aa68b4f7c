import { afterAll, expect, test } from "bun:test";
import type { Socket } from "node:net";
import fc from "fast-check";
import { runs } from "../../property/runs";
import { Client, openRaw } from "./client";
import { startService } from "./service";
import { type Answer, answersIn, bytesOf, OPCODES, type Shape } from "./wire";

const service = startService();
afterAll(() => service[Symbol.asyncDispose]());

const { continuation, text, binary, close, ping, pong } = OPCODES;
const ASK = '[{"kind":"ask","id":"1","to":"desk","type":"total"}]';

/** A socket by hand, and all that came to it. */
class Raw {
  readonly closed: Promise<void>;
  #bytes = Buffer.alloc(0);
  #onBytes = (): void => {};
  readonly #socket: Socket;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("error", () => undefined);
    this.closed = new Promise((resolve) => socket.once("close", () => resolve()));
    socket.on("data", (bytes: Buffer) => {
      this.#bytes = Buffer.concat([this.#bytes, bytes]);
      this.#onBytes();
    });
    socket.resume();
  }

  get answers(): Answer[] {
    return answersIn(this.#bytes);
  }

  send(...parts: readonly Uint8Array[]): void {
    for (const part of parts) this.#socket.write(part);
  }

  /** Resolves with the first answer that fits. */
  async find(fits: (answer: Answer) => boolean): Promise<Answer> {
    for (;;) {
      const found = this.answers.find(fits);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => {
        this.#onBytes = resolve;
      });
    }
  }

  /** The code with which the server closed it; undefined if it did so without a frame. */
  async code(): Promise<number | undefined> {
    await this.closed;
    const last = this.answers.find(({ opcode }) => opcode === close);
    return last === undefined || last.payload.length < 2 ? undefined : last.payload.readUInt16BE(0);
  }

  destroy(): void {
    this.#socket.destroy();
  }
}

const open = async (): Promise<Raw> => new Raw(await openRaw(service.url));
const isReply = ({ opcode, payload }: Answer): boolean => opcode === text && payload.includes('"kind":"reply"');
const codeIn = (code: number, reason = ""): Buffer => Buffer.from([code >> 8, code & 255, ...Buffer.from(reason)]);

const wrong: readonly (readonly [string, number, readonly Shape[]])[] = [
  ["a frame without a mask", 1002, [{ opcode: text, payload: ASK, mask: null }]],
  ["a reserved bit, as a compressed frame has it", 1002, [{ opcode: text, payload: ASK, reserved: 4 }]],
  ["all reserved bits", 1002, [{ opcode: text, payload: ASK, reserved: 7 }]],
  ["an opcode of data that there is not", 1002, [{ opcode: 3, payload: ASK }]],
  ["an opcode of control that there is not", 1002, [{ opcode: 11 }]],
  ["a continuation of nothing", 1002, [{ opcode: continuation, payload: ASK }]],
  [
    "a text in the middle of another one",
    1002,
    [
      { opcode: text, payload: "[", isLast: false },
      { opcode: text, payload: "]" },
    ],
  ],
  ["a ping in parts", 1002, [{ opcode: ping, isLast: false }]],
  ["a ping that is too long", 1002, [{ opcode: ping, payload: "x".repeat(126) }]],
  ["a close that is too long", 1002, [{ opcode: close, payload: codeIn(1000, "x".repeat(130)) }]],
  ["a length beyond all limits", 1009, [{ opcode: text, tells: 1n << 40n, payload: "[" }]],
  ["a length with its first bit set", 1009, [{ opcode: text, tells: (1n << 64n) - 1n, payload: "[" }]],
  ["a text that is no UTF-8", 1007, [{ opcode: text, payload: Buffer.from([0x5b, 0x22, 0xc3, 0x28, 0x22, 0x5d]) }]],
  ["half of a surrogate pair as UTF-8", 1007, [{ opcode: text, payload: Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]) }]],
  ["a character that is cut off", 1007, [{ opcode: text, payload: Buffer.from([0x22, 0xe2, 0x82]) }]],
  ["an overlong character", 1007, [{ opcode: text, payload: Buffer.from([0x22, 0xc0, 0xaf, 0x22]) }]],
  ["a close of one byte", 1002, [{ opcode: close, payload: Buffer.from([3]) }]],
  ["a close whose reason is no UTF-8", 1007, [{ opcode: close, payload: Buffer.from([3, 232, 0xff, 0xfe]) }]],
  ...[0, 999, 1004, 1005, 1006, 1015, 2999, 5000, 65_535].map(
    (code) => [`a close of the code ${code}`, 1002, [{ opcode: close, payload: codeIn(code) }]] as const,
  ),
];

test.each(wrong)("P18: %s ends its own socket with %d, and nothing of it is handled", async (_, code, shapes) => {
  const other = await new Client(service.url).welcome();
  const raw = await open();
  raw.send(Buffer.concat(shapes.map(bytesOf)), bytesOf({ opcode: text, payload: ASK }));
  expect(await raw.code()).toBe(code);
  expect(raw.answers.some(isReply)).toBe(false);
  expect((await other.ask("1", "desk", "total")).kind).toBe("reply");
  other.socket.close();
});

test.each([
  [1000, "bye"],
  [1001, ""],
  [3000, "a reason of an application"],
  [4999, ""],
])("a close of the code %d is answered with the same code", async (code, reason) => {
  const raw = await open();
  raw.send(bytesOf({ opcode: close, payload: codeIn(code, reason) }), bytesOf({ opcode: text, payload: ASK }));
  expect(await raw.code()).toBe(code);
  expect(raw.answers.some(isReply)).toBe(false); // Nothing after a close is handled.
});

test("a close without a code is answered, and a second one changes nothing", async () => {
  const raw = await open();
  raw.send(bytesOf({ opcode: close }), bytesOf({ opcode: close, payload: codeIn(4000) }));
  await raw.closed;
  expect(raw.answers.filter(({ opcode }) => opcode === close)).toHaveLength(1);
});

test("P18: bytes where a text is due close with 1003, whole and in parts", async () => {
  for (const shapes of [
    [{ opcode: binary, payload: ASK }],
    [
      { opcode: binary, payload: ASK.slice(0, 4), isLast: false },
      { opcode: continuation, payload: ASK.slice(4) },
    ],
    [{ opcode: binary }],
  ]) {
    const raw = await open();
    raw.send(Buffer.concat(shapes.map(bytesOf)));
    expect(await raw.code()).toBe(1003);
    expect(raw.answers.some(isReply)).toBe(false);
  }
});

test("P18: parts that together are too long close their socket before they have come whole", async () => {
  const raw = await open();
  const part = "x".repeat(100_000);
  raw.send(bytesOf({ opcode: text, payload: `["${part}`, isLast: false }));
  for (let sent = 1; sent < 20; sent++) raw.send(bytesOf({ opcode: continuation, payload: part, isLast: false }));
  expect(await raw.code()).toBeOneOf([undefined, 1009]);
});

const between = fc.array(
  fc.record({
    opcode: fc.constantFrom(ping, pong),
    payload: fc.uint8Array({ maxLength: 125 }),
    mask: fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255)),
  }),
  { maxLength: 4 },
);
const parts = fc.array(fc.tuple(fc.nat(40), between), { maxLength: 12 });

test("a text is answered however it is cut into frames and packets, with pings and pongs between, and each ping by its pong", async () => {
  await fc.assert(
    fc.asyncProperty(parts, fc.array(fc.integer({ min: 1, max: 50 }), { maxLength: 20 }), async (cuts, packets) => {
      const shapes: Shape[] = [];
      const whole = Buffer.from(`[{"kind":"ask","id":"é€𝄞","to":"desk","type":"total"}]`); // Cut within characters, too.
      let at = 0;
      let opcode: number = text;
      for (const [length, controls] of cuts) {
        shapes.push({ opcode, payload: whole.subarray(at, at + length), isLast: false }, ...controls);
        at += length;
        opcode = continuation;
      }
      shapes.push({ opcode, payload: whole.subarray(at) });
      const raw = await open();
      let bytes = Buffer.concat(shapes.map(bytesOf));
      for (const size of packets) {
        raw.send(bytes.subarray(0, size));
        bytes = bytes.subarray(size);
      }
      raw.send(bytes);
      const { payload } = await raw.find(isReply);
      expect(payload.toString()).toContain('"id":"é€𝄞"');
      const pings = cuts.flatMap(([, controls]) => controls.filter((control) => control.opcode === ping));
      const pongs = (): Answer[] => raw.answers.filter((answer) => answer.opcode === pong);
      await raw.find(() => pongs().length >= pings.length);
      expect(pongs().map((each) => each.payload.toHex())).toEqual(pings.map((each) => each.payload.toHex()));
      raw.destroy();
    }),
    runs(60),
  );
});
