import { expect, test } from "bun:test";
import { receive } from "../../../src/index";
import { everyWay, withFiles } from "./ways";

test.each(everyWay)("a property in another spelling is refused, with its name, and nothing is done, by %s", (way) =>
  withFiles(way, async ({ files, disk, directory }) => {
    const door = receive(files);
    disk.writeFileSync(`${directory}/a`, "old");
    const edit = { oldText: "old", newText: "new" };
    const write = { kind: "write", path: "a", content: "new" };
    const requests: readonly [string, object, string][] = [
      ["write", { path: "a", content: "new", if_match: "1-1" }, '"ifMatch" instead of "if_match"'],
      ["write", { path: "a", content: "new", IfExists: "fail" }, '"ifExists" instead of "IfExists"'],
      ["edit", { path: "a", edits: [edit], "dry-run": true }, '"dryRun" instead of "dry-run"'],
      ["edit", { path: "a", edits: [{ ...edit, replace_all: true }] }, '"replaceAll" instead of "replace_all"'],
      ["change", { changes: [write], dryrun: true }, '"dryRun" instead of "dryrun"'],
      ["change", { changes: [{ ...write, if_match: "1-1" }] }, '"ifMatch" instead of "if_match"'],
      ["change", { changes: [{ kind: "delete", path: "a", ifmatch: "1-1" }] }, '"ifMatch" instead of "ifmatch"'],
      ["read", { path: "a", Length: 1 }, '"length" instead of "Length"'],
    ];
    for (const [operation, request, message] of requests) {
      const error = (await door.ask(operation, request))._unsafeUnwrapErr();
      expect([operation, error.kind]).toEqual([operation, "invalid-payload"]);
      expect(error.message).toContain(message);
    }
    expect(disk.readFileSync(`${directory}/a`, "utf8")).toBe("old");
    const searched = door.stream("search", { text: "o", max_results: 1 });
    await expect(Array.fromAsync(searched)).rejects.toMatchObject({ kind: "invalid-payload" });
    const remarked = { path: "a", content: "new", explanation: "It is old.", ifMatches: 1 };
    expect((await door.ask("write", remarked))._unsafeUnwrap()).toMatchObject({ ok: true });
  }),
);

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
