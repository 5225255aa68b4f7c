import { expect, test } from "bun:test";
import fc from "fast-check";
import { type Context, defineProtocol, type Ref, type SignaturesOf, Type } from "../../src/index";
import { testSystems } from "../actor/test-system";
import { runs } from "../property/runs";
import { folders, type Line, record } from "./recorded";

const { createTestSystem } = testSystems();
const folder = folders();

/** A message that a program sends, and what its handler does. Its number is its place in the program. */
interface Sent {
  id: number;
  readonly way: "tell" | "ask" | "stream";
  readonly to: number;
  readonly does: readonly Sent[];
  readonly ends: "reply" | "throw" | "forward" | "wait";
}

const ACTORS = 4;
const Actor = defineProtocol("actor", {
  tell: { payload: Type.Unsafe<Sent>({}) },
  ask: { payload: Type.Unsafe<Sent>({}), reply: Type.Number() },
  stream: { payload: Type.Unsafe<Sent>({}), stream: Type.Number() },
});
type ActorRef = Ref<SignaturesOf<typeof Actor>>;

const program = fc.letrec<{ sent: Sent }>((tie) => ({
  sent: fc.record({
    id: fc.constant(0),
    way: fc.constantFrom("tell", "ask", "stream"),
    to: fc.nat(ACTORS - 1),
    does: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      fc.constant([]),
      fc.array(tie("sent"), { maxLength: 3 }),
    ),
    ends: fc.constantFrom("reply", "reply", "throw", "forward", "wait"),
  }),
})).sent;

/** One more than the actor that sends: only actors further on are waited for, so that no circle is closed. */
const targetOf = (sent: Sent, by: number): number => (sent.way === "tell" ? sent.to : Math.min(by + 1, ACTORS));

/** The messages that a handler sends. The last actor has nobody further on to wait for. */
const sentBy = ({ does }: Sent, at: number): readonly Sent[] =>
  at < ACTORS ? does : does.filter(({ way }) => way === "tell");

/** The lines that a program must have: `id at: cause outcome`. */
function expected(sent: Sent, at: number, cause: string, lines: string[]): void {
  const own = `${sent.id}@${at}`;
  const isForwarded = sent.ends === "forward" && at < ACTORS && sent.way !== "stream";
  const outcome = isForwarded ? "forwarded" : sent.ends === "throw" ? "failed" : "handled";
  lines.push(`${sent.way} ${own}: ${cause} ${outcome}`);
  for (const next of sentBy(sent, at)) expected(next, targetOf(next, at), own, lines);
  if (isForwarded) lines.push(`${sent.way} ${sent.id}@${ACTORS}: ${own} handled`);
}

function recorded(lines: readonly Line[]): string[] {
  const messages = lines.filter(({ kind }) => kind === "message");
  const nameOf = ({ payload, to }: Line): string => `${(payload as Sent).id}@${to?.slice("@(a".length, -1)}`;
  const byId = new Map(messages.map((line) => [line.id, line]));
  return messages.map((line) => {
    const ends = lines.filter(({ kind, of }) => kind === "end" && of === line.id).map(({ outcome }) => outcome);
    const cause = line.cause === undefined ? "-" : nameOf(byId.get(line.cause) as Line); // Each cause has a line.
    return `${line.pattern} ${nameOf(line)}: ${cause} ${ends.join()}`;
  });
}

test("each message of a program has one line, its cause, and one end", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(program, { minLength: 1, maxLength: 4 }), fc.boolean(), async (roots, isConcurrent) => {
      let lastId = 0;
      const number = (sent: Sent): void => {
        sent.id = ++lastId;
        for (const next of sent.does) number(next);
      };
      for (const root of roots) number(root);

      const { system, clock, takeLog } = createTestSystem();
      const { lines } = record(system, folder());
      const refs: ActorRef[] = [];
      const forwarded = new Set<number>();
      const send = async (by: Pick<Context<unknown>, "tell" | "ask" | "stream"> | null, sent: Sent, from: number) => {
        const to = refs[targetOf(sent, from)] as ActorRef; // There is one at each place.
        if (sent.way === "tell") return by === null ? to.tell("tell", sent) : by.tell(to, "tell", sent);
        if (sent.way === "ask") return void (await (by === null ? to.ask("ask", sent) : by.ask(to, "ask", sent)));
        const items = by === null ? to.stream("stream", sent) : by.stream(to, "stream", sent);
        try {
          for await (const _ of items);
        } catch {
          // Its producer threw.
        }
      };
      for (let at = 0; at <= ACTORS; at++) {
        const run = async (ctx: Context<SignaturesOf<typeof Actor>>, sent: Sent): Promise<number> => {
          if (sent.ends === "wait") await undefined;
          for (const next of sentBy(sent, at)) await send(ctx, next, at);
          if (sent.ends === "throw") throw new Error("as planned");
          return sent.id;
        };
        const forward = (ctx: Context<SignaturesOf<typeof Actor>>, sent: Sent) => {
          forwarded.add(sent.id);
          return ctx.forward(refs[ACTORS] as ActorRef); // The last one gets what is forwarded, and does nothing more.
        };
        const factory = (ctx: Context<SignaturesOf<typeof Actor>>) => ({
          async tell(sent: Sent) {
            if (forwarded.has(sent.id)) return undefined;
            await run(ctx, sent);
            return sent.ends === "forward" && at < ACTORS ? forward(ctx, sent) : undefined;
          },
          async ask(sent: Sent) {
            if (forwarded.has(sent.id)) return sent.id;
            await run(ctx, sent);
            return sent.ends === "forward" && at < ACTORS ? forward(ctx, sent) : sent.id;
          },
          async *stream(sent: Sent) {
            yield await run(ctx, sent);
          },
        });
        refs.push(system.spawn(`a${at}`, Actor, factory, { concurrency: isConcurrent ? 3 : 1 }));
      }
      for (const root of roots) await send(null, root, -1);
      await clock.settle();
      takeLog();
      const wanted: string[] = [];
      for (const root of roots) expected(root, targetOf(root, -1), "-", wanted);
      expect(recorded(await lines()).sort()).toEqual(wanted.sort());
    }),
    runs(60),
  );
});
