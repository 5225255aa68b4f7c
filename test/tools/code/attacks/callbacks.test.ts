import { expect, test } from "bun:test";
import type { ApprovalRequest, Approve } from "../../../../src/tools/code/approval";
import { valueIn } from "../tiers";
import { expectFate, inEachArena } from "./arena";
import { SECRET } from "./loot";

let requests: ApprovalRequest[] = [];
/** By the payload of a call. */
const approve: Approve = (request) => {
  requests.push(request);
  if (request.kind === "run") return true;
  const { payload } = request;
  if (payload === "throw") throw Object.assign(new Error(SECRET), { secret: SECRET });
  if (payload === "reject") return Promise.reject(SECRET);
  if (payload === "refuse") return { refuse: "not that" };
  if (payload === "nonsense") return { allow: SECRET } as never; // As one writes it who does not heed the types.
  if (payload === "change") return { payload: "changed" };
  return true;
};

inEachArena("Callbacks of the host", { approve }, (arena) => {
  const { run } = arena;

  test("give code none of their errors, arguments and functions", async () => {
    const body = `const told = []
      for (const given of ["throw", "reject", "refuse", "nonsense"]) {
        const error = await tools.desk.echo(given).catch((e) => e)
        told.push([error.name, error.kind, Object.getOwnPropertyNames(error).filter((key) => !["name", "kind", "message", "stack", "line", "column", "sourceURL", "originalLine", "originalColumn"].includes(key)), error instanceof Error, error.cause ?? null])
        console.log(error.message)
      }
      return told`;
    const outcome = await run(body);
    expect(valueIn(outcome)).toEqual(Array(4).fill(["ToolError", "refused", [], true, null]));
    expect(arena.asked).toEqual([]);
  });

  test("are shown what a call sends as plain data, and what they change is what is called", async () => {
    requests = [];
    const sent = `{ a: 1, get b() { return 2 }, toString() { return "x" }, constructor: { prototype: 1 }, list: [, 1n].slice(0, 1) }`;
    const body = `await tools.desk.echo(${sent}); return await tools.desk.echo("change")`;
    expect(valueIn(await run(body))).toBe("changed");
    const [, plain] = requests;
    const payload = plain?.kind === "call" ? plain.payload : undefined;
    expect(payload).toEqual({ a: 1, b: 2, constructor: { prototype: 1 }, list: [null] });
    expect(Object.getPrototypeOf(payload)).toBe(Object.prototype);
    expect(arena.asked).toEqual([payload, "changed"]);
  });

  test("are shown the code that runs, whatever it looks like", async () => {
    requests = [];
    const body = "return '\u202e}' // \u202e\n/* */";
    expect(valueIn(await run(body))).toBe("\u202e}");
    const [shown] = requests;
    expect(shown?.kind === "run" && shown.code).toContain(body);
  });

  test("of a tool that fails are told by its kind, and by nothing that the tool threw", async () => {
    const body = `const error = await tools.desk.fail({ secret: 1 }).catch((e) => e); console.log(error, error.stack); return [error.kind, error.message]`;
    expect(valueIn(await run(body))).toEqual(["handler-failed", "tools.desk.fail failed."]);
  });

  test("are not kept waiting by what code sends them", async () => {
    const body = `const kinds = []
      for (const make of [() => { const a = {}; a.a = a; return a }, () => 1n, () => "x".repeat(2e6), () => ({ toJSON() { throw 1 } }), () => new Proxy({}, { ownKeys() { throw 2 } })]) {
        try { await tools.desk.echo(make()); kinds.push("sent") } catch { kinds.push("refused") }
      }
      return kinds`;
    expect(valueIn(await run(body))).toEqual(Array(5).fill("refused"));
    // Too deep for the interpreter, which ends the run.
    const deep = await run(
      "let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; return await tools.desk.echo(o).catch(() => 'refused')",
    );
    if (deep.ok) expect(deep.value.value).toBe("refused");
    else expectFate(deep, ["runtime-error"]);
    expect(arena.asked).toEqual([]);
  });
});
