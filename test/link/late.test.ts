import { expect, test } from "bun:test";
import { address, defineProtocol, Type } from "../../src/index";
import { createLink } from "../../src/link/index";
import { testSystems } from "../actor/test-system";

const Clerk = defineProtocol("clerk", { work: { payload: Type.String(), reply: Type.Number() } });
const { createTestSystem } = testSystems();

test.each([
  ["right behind its asker's giving up is a dead letter", 0, ["late-reply"]],
  ["10 s after its asker gave up finds nothing: the link keeps no payload for longer", 10_000, []],
])("P7: a reply that comes %s", async (_, pause, reasons) => {
  const here = createTestSystem();
  const texts: string[] = [];
  const link = createLink({
    system: here.system,
    prefix: "there/",
    send: (text) => texts.push(text) > 0,
    exposed: () => undefined,
  });
  const clerk = link.ref(address("clerk"), Clerk);
  const asked = clerk.ask("work", "hard", { timeout: 50 });
  await here.advance(50);
  expect((await asked)._unsafeUnwrapErr().kind).toBe("timeout");
  expect(texts.join("")).toContain('[8,"1"]'); // It was cancelled over there.
  await here.advance(pause);
  expect(link.take('[[10,"1",3]]')).toBe(true);
  await here.settle();
  expect(here.deadLetters.map(({ reason }) => reason)).toEqual(reasons as never);
});
