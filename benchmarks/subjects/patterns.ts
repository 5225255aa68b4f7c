import { createSystem, type RefTo } from "envoi";
import { Completion, type Prepared } from "../harness/suite";
import { Echo, Sink } from "./echo";
import { prepareTells } from "./tells";

/** A ball between two actors, each of which tells the other; an operation is a round trip. */
export function pingPong(operations: number): Prepared {
  const system = createSystem();
  const completion = new Completion();
  const ping: RefTo<typeof Sink> = system.spawn("ping", Sink, () => ({
    take(ball) {
      if (completion.arrive()) pong.tell("take", ball);
    },
  }));
  const pong = system.spawn("pong", Sink, () => ({
    take(ball) {
      ping.tell("take", ball);
    },
  }));
  const run = () => {
    const done = completion.expect(operations);
    pong.tell("take", 1);
    return done;
  };
  return { run, completed: completion.completed, teardown: () => system.shutdown() };
}

/** A message handed on along `length` actors; an operation is one of its hops. */
export function chain(operations: number, length: number): Prepared {
  const system = createSystem();
  const completion = new Completion();
  let first: RefTo<typeof Sink> | undefined;
  for (let i = 0; i < length; i++) {
    const next = first;
    first = system.spawn(`link-${i}`, Sink, () => ({
      take(payload) {
        completion.arrive();
        next?.tell("take", payload);
      },
    }));
  }
  const run = async () => {
    for (let sent = 0; sent < operations; sent += length) {
      const done = completion.expect(length);
      first?.tell("take", sent);
      await done;
    }
  };
  return { run, completed: completion.completed, teardown: () => system.shutdown() };
}

/** One actor tells `width` others; an operation is a message that one of them handled. */
export function fanOut(operations: number, width: number): Prepared {
  const system = createSystem();
  const completion = new Completion();
  const take = () => {
    completion.arrive();
  };
  const leaves = Array.from({ length: width }, (_, i) => system.spawn(`leaf-${i}`, Sink, () => ({ take })));
  const root = system.spawn("root", Sink, () => ({
    take(payload) {
      for (const leaf of leaves) leaf.tell("take", payload);
    },
  }));
  const run = async () => {
    for (let sent = 0; sent < operations; sent += width) {
      const done = completion.expect(width);
      root.tell("take", sent);
      await done;
    }
  };
  return { run, completed: completion.completed, teardown: () => system.shutdown() };
}

/** `width` tells that an actor adds up, and an ask for the sum, which must be right; an operation is a tell. */
export function aggregation(operations: number, width: number): Prepared {
  const system = createSystem();
  let completed = 0;
  let sum = 0;
  const aggregator = system.spawn("aggregator", Echo, () => ({
    say(payload) {
      const before = sum;
      sum = payload < 0 ? 0 : sum + payload;
      return before;
    },
  }));
  const run = async () => {
    for (let sent = 0; sent < operations; sent += width) {
      for (let i = 0; i < width; i++) aggregator.tell("say", 1);
      const total = await aggregator.ask("say", -1);
      if (total.isOk() && total.value === width) completed += width;
    }
  };
  return { run, completed: () => completed, teardown: () => system.shutdown() };
}

/** Half tells and half asks, `width` at once, until all are handled and answered. */
export function mixed(operations: number, width: number): Prepared {
  const system = createSystem();
  let told = 0;
  let answered = 0;
  const echo = system.spawn("echo", Echo, () => ({ say: (payload) => (payload < 0 ? told++ : payload) }));
  const run = async () => {
    for (let sent = 0; sent < operations; sent += width) {
      const replies = [];
      for (let i = 0; i < width / 2; i++) {
        echo.tell("say", -1);
        replies.push(echo.ask("say", i));
      }
      let index = 0;
      for (const reply of await Promise.all(replies)) if (reply.isOk() && reply.value === index++) answered++;
    }
  };
  return { run, completed: () => told + answered, teardown: () => system.shutdown() };
}

/** Tells to one actor, `width` at once. */
export function tells(operations: number, width: number): Prepared {
  const system = createSystem();
  const completion = new Completion();
  const sink = system.spawn("sink", Sink, () => ({
    take() {
      completion.arrive();
    },
  }));
  const tell = (index: number) => sink.tell("take", index);
  return prepareTells({ operations, width, completion, tell, teardown: () => system.shutdown() });
}

/** An actor spawned under a new name, found at its address, stopped, the stop awaited, and its address free again. */
export function spawnStop(operations: number): Prepared {
  const system = createSystem();
  const { router } = system;
  let completed = 0;
  let made = 0;
  const run = async () => {
    for (let i = 0; i < operations; i++) {
      const actor = system.spawn(`actor-${made++}`, Echo, () => ({ say: (payload) => payload }));
      const { address } = actor;
      const wasThere = router.has(address);
      await system.stop(actor);
      if (wasThere && !router.has(address)) completed++;
    }
  };
  return { run, completed: () => completed, teardown: () => system.shutdown() };
}
