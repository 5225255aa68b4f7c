import { expect, test } from "bun:test";
import fc from "fast-check";
import { createSystem, defineProtocol, type Ref, type SignaturesOf, type System, Type } from "../../../src/index";
import { type Recording, recorder, replay } from "../../../src/record/index";
import { createManualClock } from "../../../src/testing/index";
import { runs } from "../../property/runs";
import { folders } from "../recorded";

const folder = folders();

/** A step of a handler. */
type Step =
  | { readonly do: "sleep"; readonly for: number }
  | { readonly do: "draw" }
  | { readonly do: "ask" | "tell" | "world" | "stream"; readonly steps: readonly Step[] }
  | { readonly do: "throw" };
interface Sent {
  readonly at: number;
  readonly to: number;
  readonly way: "ask" | "tell" | "stream";
  readonly steps: readonly Step[];
}

const Steps = Type.Unsafe<readonly Step[]>({});
const Actor = defineProtocol("actor", {
  run: { payload: Steps, reply: Type.String() },
  told: { payload: Steps },
  each: { payload: Steps, stream: Type.String() },
});
type ActorRef = Ref<SignaturesOf<typeof Actor>>;
const ACTORS = 3;

const steps = fc.letrec<{ step: Step; steps: readonly Step[] }>((tie) => ({
  step: fc.oneof(
    { depthSize: "small" },
    fc.record({ do: fc.constant("sleep" as const), for: fc.nat(30) }),
    fc.constant({ do: "draw" as const }),
    fc.constant({ do: "throw" as const }),
    fc.record({ do: fc.constantFrom("ask" as const, "tell", "world", "world", "stream"), steps: tie("steps") }),
  ),
  steps: fc.array(tie("step"), { maxLength: 4 }),
})).steps;
const program = fc.array(
  fc.record({
    at: fc.nat(60),
    to: fc.nat(ACTORS - 1),
    way: fc.constantFrom("ask" as const, "tell", "stream"),
    steps,
  }),
  { minLength: 1, maxLength: 6 },
);

/** Builds actors that do what they are told. What they reply has the place of each step among all steps of the system. */
function build(system: System, recording: Recording, isConcurrent: boolean): void {
  let place = 0;
  const refs: ActorRef[] = [];
  const spawn = (name: string, at: number): ActorRef =>
    system.spawn(
      name,
      Actor,
      (ctx) => {
        async function* run(todo: readonly Step[]): AsyncGenerator<string> {
          const next = refs[Math.min(at + 1, ACTORS)] as ActorRef; // There is one at each place.
          const world = refs[ACTORS + 1] as ActorRef;
          for (const step of todo) {
            if (step.do === "throw") throw new RangeError(`at ${place++}`);
            if (step.do === "sleep") await new Promise<void>((resolve) => system.clock.setTimer(resolve, step.for));
            else if (step.do === "draw") yield `drew ${recording.random()}`;
            else if (at >= ACTORS) yield "nothing";
            else if (step.do === "tell") ctx.tell(next, "told", step.steps);
            else if (step.do === "stream") {
              try {
                for await (const item of ctx.stream(world, "each", step.steps)) yield item;
              } catch (thrown) {
                yield String((thrown as Error).message);
              }
            } else {
              const reply = await ctx.ask(step.do === "ask" ? next : world, "run", step.steps);
              yield reply.match(
                (value) => value,
                (error) => error.kind,
              );
            }
            yield `${name} ${place++}`;
          }
        }
        return {
          run: async (todo) => (await Array.fromAsync(run(todo))).join(", "),
          told: async (todo) => void (await Array.fromAsync(run(todo))),
          each: run,
        };
      },
      { concurrency: isConcurrent ? 8 : 1, supervision: { decide: () => "resume" } },
    );
  for (let at = 0; at <= ACTORS; at++) refs.push(spawn(`a${at}`, at));
  let naps = 0; // No two answers come at one moment: only the machine knows which of these was first.
  let own = 0; // The world counts for itself: in a replay, it is not there.
  refs.push(
    recording.outside("world", Actor, () =>
      system.spawn("world", Actor, () => {
        const nap = (time: number): Promise<void> =>
          new Promise((resolve) => system.clock.setTimer(resolve, time + 0.001 * ++naps));
        async function* answer(todo: readonly Step[]): AsyncGenerator<string> {
          await nap(0);
          for (const step of todo) {
            if (step.do === "throw") throw new RangeError("the world ended");
            if (step.do === "sleep") await nap(step.for);
            yield `world ${own++}`;
          }
        }
        return {
          run: async (todo) => (await Array.fromAsync(answer(todo))).join(),
          told() {},
          each: answer,
        };
      }),
    ),
  );
}

const quiet = { warn() {}, error() {} };
const options = { askTimeout: Number.POSITIVE_INFINITY, logger: quiet };

test("a program that was recorded gives the same when it is replayed: each reply, item and error, and the order of what runs at once", async () => {
  await fc.assert(
    fc.asyncProperty(program, fc.boolean(), async (sent: readonly Sent[], isConcurrent) => {
      const clock = createManualClock(1_700_000_000_000);
      const system = createSystem({ ...options, clock });
      const path = `${folder()}/run.ndjson`;
      const recording = recorder(system, { to: path });
      build(system, recording, isConcurrent);
      for (const { at, to, way, steps: todo } of sent.toSorted((a, b) => a.at - b.at)) {
        await clock.advance(Math.max(0, at - clock.monotonicTime()));
        const door = system.ref(`@(a${to})` as ActorRef["address"], Actor);
        if (way === "ask") void door.ask("run", todo);
        else if (way === "tell") door.tell("told", todo);
        else void Array.fromAsync(door.stream("each", todo)).catch(() => {});
      }
      await clock.advance(10_000);
      const closing = recording.close();
      await clock.advance(1_000);
      await closing;
      const report = await replay(path, {
        setup(stage) {
          const replayed = createSystem({ ...options, clock: stage.clock, random: stage.random });
          build(replayed, stage.recorder(replayed), isConcurrent);
          return replayed;
        },
      });
      expect(String(report)).toContain(`: the same; ${sent.length} message`);
    }),
    runs(60),
  );
}, 60_000);
