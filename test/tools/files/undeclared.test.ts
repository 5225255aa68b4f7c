import { expect, test } from "bun:test";
import { receive } from "../../../src/index";
import { everyWay, withFiles } from "./ways";

test.each(everyWay)("P9: what a request holds beside what its operation declares is not looked at, by %s", (way) =>
  withFiles(way, async ({ files }) => {
    const door = receive(files);
    for (const more of [{ changes: null }, { changes: [null] }, { reads: [null] }, { from: 7, to: {} }]) {
      expect((await door.ask("write", { path: "a", content: "1", ...more }))._unsafeUnwrap()).toMatchObject({
        ok: true,
      });
      expect((await door.ask("read", { path: "a", ...more }))._unsafeUnwrap()).toMatchObject({ ok: true });
      // Behind a write of the same path, whatever else it names.
      const written = door.ask("write", { path: "a", content: "2", durable: true, ...more });
      const read = await door.ask("read", { path: "a" });
      expect(read._unsafeUnwrap()).toMatchObject({ ok: true, value: { content: "2" } });
      expect((await written)._unsafeUnwrap()).toMatchObject({ ok: true });
    }
  }),
);
