import { createSystem, defineProtocol, type RefTo, Type } from "envoi";
import { Completion, type Prepared } from "../harness/suite";
import { Echo, Sink } from "./echo";

const silent = { warn: () => {}, error: () => {} };

/** An ask whose handler throws, so that its actor begins anew; an operation is that, the asker told. */
export function restart(operations: number): Prepared {
  const system = createSystem({ logger: silent, supervision: { limit: Number.POSITIVE_INFINITY } });
  let made = 0;
  const actor = system.spawn("actor", Echo, () => {
    made++;
    return {
      say() {
        throw new Error("as it should");
      },
    };
  });
  let completed = 0;
  const run = async () => {
    const before = made;
    let failed = 0;
    for (let i = 0; i < operations; i++) {
      const reply = await actor.ask("say", i);
      if (reply.isErr() && reply.error.kind === "handler-failed") failed++;
    }
    if (made - before === operations) completed += failed;
  };
  return { run, completed: () => completed, teardown: () => system.shutdown() };
}

/** A child spawned, watched and stopped; an operation is that, until its parent has handled `terminated`. */
export function watch(operations: number): Prepared {
  const system = createSystem();
  const completion = new Completion();
  const parent = system.spawn("parent", Sink, (ctx) => ({
    take(index) {
      const child = ctx.spawn(`child-${index}`, Echo, () => ({ say: (payload) => payload }));
      ctx.watch(child, () => {
        if (!system.router.has(child.address)) completion.arrive();
      });
      ctx.stop(child);
    },
  }));
  let made = 0;
  const run = async () => {
    for (let i = 0; i < operations; i++) {
      const done = completion.expect(1);
      parent.tell("take", made++);
      await done;
    }
  };
  return { run, completed: completion.completed, teardown: () => system.shutdown() };
}

const Door = defineProtocol("door", { pass: { payload: Type.Number() }, open: {}, close: {} });

/** `width` messages that are stashed, then unstashed and handled in their order; an operation is one of them. */
export function stash(operations: number, width: number): Prepared {
  const system = createSystem();
  const completion = new Completion();
  const door: RefTo<typeof Door> = system.spawn("door", Door, (ctx) => {
    let isOpen = false;
    let expected = 0;
    return {
      pass(index) {
        if (!isOpen) ctx.stash();
        else if (index === expected++) completion.arrive();
      },
      open() {
        isOpen = true;
        expected = 0;
        ctx.unstash();
      },
      close() {
        isOpen = false;
      },
    };
  });
  const run = async () => {
    for (let sent = 0; sent < operations; sent += width) {
      const done = completion.expect(width);
      door.tell("close");
      for (let i = 0; i < width; i++) door.tell("pass", i);
      door.tell("open");
      await done;
    }
  };
  return { run, completed: completion.completed, teardown: () => system.shutdown() };
}
