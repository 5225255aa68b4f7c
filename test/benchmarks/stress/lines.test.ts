import { expect, test } from "bun:test";
import fc from "fast-check";
import { LineReader, LineWriter } from "../../../benchmarks/stress/lines";
import { runs } from "../../property/runs";

const encode = (text: string) => new TextEncoder().encode(text);

test("lines are the same however their bytes are cut", () => {
  const answers = fc.array(fc.tuple(fc.nat(), fc.oneof(fc.nat(), fc.string({ unit: "grapheme" }))), { maxLength: 20 });
  fc.assert(
    fc.property(answers, fc.array(fc.nat(40), { maxLength: 20 }), (lines, cuts) => {
      const bytes = encode(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
      const reader = new LineReader<unknown>();
      const read: unknown[] = [];
      let at = 0;
      for (const cut of [...cuts, bytes.length]) {
        read.push(...reader.read(bytes.subarray(at, at + cut)));
        at += cut;
      }
      expect(read).toEqual(lines);
    }),
    runs(200),
  );
});

/** A socket that takes so many bytes each time. */
class Narrow {
  taken = "";
  constructor(public room: number) {}
  write(bytes: Uint8Array | string): number {
    const piece = typeof bytes === "string" ? encode(bytes) : bytes;
    const fits = piece.subarray(0, this.room);
    this.taken += new TextDecoder().decode(fits);
    return fits.length;
  }
}

const writerTo = (socket: Narrow) => new LineWriter(socket as unknown as ConstructorParameters<typeof LineWriter>[0]); // Only `write` is used.

test("what a socket does not take at once is written when it takes more, in order", () => {
  const socket = new Narrow(3);
  const writer = writerTo(socket);
  writer.write("first\n");
  writer.write("second\n");
  for (let i = 0; i < 10; i++) writer.drain();
  expect(socket.taken).toBe("first\nsecond\n");
});

test("lines that nobody waits for are taken back, but none of which a part is written", () => {
  const socket = new Narrow(0);
  const writer = writerTo(socket);
  writer.write("begun\n", 1);
  socket.room = 2;
  writer.drain();
  socket.room = 0;
  writer.write("old\n", 2);
  writer.write("older than it looks\n", 3);
  writer.write("new\n", 10);
  writer.forget(10);
  socket.room = 100;
  writer.drain();
  expect(socket.taken).toBe("begun\nnew\n");
});

test("all that waits may be taken back", () => {
  const socket = new Narrow(0);
  const writer = writerTo(socket);
  writer.write("old\n", 1);
  writer.forget(10);
  socket.room = 100;
  writer.drain();
  expect(socket.taken).toBe("");
  writer.write("new\n", 20);
  expect(socket.taken).toBe("new\n");
});
