import { describe, expect, test } from "bun:test";
import { createSystem, defineProtocol, Type } from "../../../src/index";
import { drop, mask, recorder, redact, replace, replay, type Transform } from "../../../src/record/index";
import { folders } from "../recorded";

const folder = folders();
const Shop = defineProtocol("shop", { find: { payload: Type.Unknown(), reply: Type.Unknown() } });
const Bank = defineProtocol("bank", { pay: { payload: Type.Unknown(), reply: Type.Unknown() } });

/** Records a shop that asks a bank outside, and replays it with other values and without the transforms. */
async function again(transforms: Transform[]) {
  const to = `${folder()}/run.ndjson`;
  const build = (tell: string, recorded: ReturnType<typeof recorder>, system: ReturnType<typeof createSystem>) => {
    const bank = recorded.outside("bank", Bank, () => system.spawn("bank", Bank, () => ({ pay: () => "paid" })));
    return system.spawn("shop", Shop, (ctx) => ({
      async find() {
        const paid = await ctx.ask(bank, "pay", { card: `${tell}-4242` });
        return { card: `${tell}-4242`, paid: paid.isOk(), size: tell.length };
      },
    }));
  };
  const system = createSystem();
  await build("recorded", recorder(system, { to, transforms }), system).ask("find", 1);
  await system.shutdown();
  return replay(to, {
    setup({ clock, random, recorder: stage }) {
      const replayed = createSystem({ clock, random });
      build("replayed", stage(replayed), replayed);
      return replayed;
    },
  });
}

describe("a report does not show what a transform of the recording hid, also where the replay lacks it", () => {
  const transforms = [
    redact("**.card"),
    mask("**.card"),
    drop("**.card"),
    replace("**.card", "a card"),
    mask("*.card", { actor: "@(*)" }),
  ];
  test.each(transforms.map((each) => [String(each), each] as const))("%s", async (_, transform) => {
    const report = await again([transform]);
    expect(String(report)).not.toContain("replayed-4242");
    expect(JSON.stringify(report.deviations)).not.toContain("replayed-4242");
    expect(report.notes.join()).toContain(`lacks transforms of the recording (${transform})`);
    expect(report.answered).toBe(1); // The call is found all the same.
  });

  test("and what none of them hid is compared", async () => {
    const report = await again([drop("reply.card", { operation: "other" }), mask("payload.card of it")]);
    expect(String(report)).toContain("replayed-4242");
  });

  test("nothing is noted where no transform lacks", async () => {
    expect((await again([])).notes.join()).not.toContain("lacks transforms");
  });
});
