import { createSystem, defineProtocol, type RefTo, Type } from "envoi";
import { bare } from "../harness/floors";
import { RawMailbox } from "../harness/raw-mailbox";
import { batches, counted, type Most, suiteOf, timed } from "../harness/rows";
import type { Floor, Prepared } from "../harness/suite";
import { batchesIn, Echo, Sink } from "../subjects/echo";

const silent = { warn: () => {}, error: () => {} };

function restart(operations: number): Prepared {
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
  const work = async () => {
    const before = made;
    let failed = 0;
    for (let i = 0; i < operations; i++) {
      const reply = await actor.ask("say", i);
      if (reply.isErr() && reply.error.kind === "handler-failed") failed++;
    }
    return made - before === operations ? failed : 0;
  };
  return counted(work, { teardown: () => system.shutdown() });
}

const rawRestart = bare(
  "raw restart",
  "an `Error` thrown and caught in the handler, which is replaced by a new closure, and the ask awaited",
  (operations) => {
    let made = 0;
    const make = (): (() => void) => {
      made++;
      return () => {
        throw new Error("as it should");
      };
    };
    let handler = make();
    const mailbox = new RawMailbox<number>(() => {
      try {
        return handler();
      } catch (thrown) {
        handler = make();
        return thrown;
      }
    });
    return counted(async () => {
      const before = made;
      let failed = 0;
      for (let i = 0; i < operations; i++) if ((await mailbox.ask(i)) instanceof Error) failed++;
      return made - before === operations ? failed : 0;
    });
  },
);

const watch = (operations: number): Prepared =>
  batchesIn(operations, 1, (arrive, system) => {
    const parent = system.spawn("parent", Sink, (ctx) => ({
      take(index) {
        const child = ctx.spawn(`child-${index}`, Echo, () => ({ say: (payload) => payload }));
        ctx.watch(child, () => {
          if (!system.router.has(child.address)) arrive();
        });
        ctx.stop(child);
      },
    }));
    let made = 0;
    return () => parent.tell("take", made++);
  });

const rawWatch = bare(
  "raw watch",
  "one is made and put in a `Map` by name, told to stop, taken out, and another one told of it",
  (operations) =>
    batches(operations, 1, (arrive) => {
      const directory = new Map<string, RawMailbox<string>>();
      const watcher = new RawMailbox<string>((name) => {
        if (!directory.has(name)) arrive();
      });
      let made = 0;
      return () => {
        const name = `actor-${made++}`;
        const mailbox = new RawMailbox<string>(() => {
          directory.delete(name);
          watcher.tell(name);
        });
        directory.set(name, mailbox);
        mailbox.tell("stop");
      };
    }),
);

const Door = defineProtocol("door", { pass: { payload: Type.Number() }, open: {}, close: {} });

/** `width` messages that are stashed, then unstashed and handled in their order; an operation is one of them. */
const stash = (operations: number, width: number): Prepared =>
  batchesIn(operations, width, (arrive, system) => {
    const door: RefTo<typeof Door> = system.spawn("door", Door, (ctx) => {
      let isOpen = false;
      let expected = 0;
      return {
        pass(index) {
          if (!isOpen) ctx.stash();
          else if (index === expected++) arrive();
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
    return () => {
      door.tell("close");
      for (let i = 0; i < width; i++) door.tell("pass", i);
      door.tell("open");
    };
  });

const rawStash = (width: number): Floor =>
  bare(
    `raw stash of ${width}`,
    `${width} messages put aside in an array, then told again in their order, and handled`,
    (operations) =>
      batches(operations, width, (arrive) => {
        let aside: number[] | null = [];
        const mailbox: RawMailbox<number> = new RawMailbox((payload) => {
          if (payload < 0) {
            const again = aside ?? [];
            aside = null;
            for (const each of again) mailbox.tell(each);
          } else if (aside !== null) aside.push(payload);
          else arrive();
        });
        return () => {
          aside = [];
          for (let i = 0; i < width; i++) mailbox.tell(i);
          mailbox.tell(-1);
        };
      }),
  );

const WHY = "a supervisor's decision, an order among siblings, and an end that is told; a stash handles twice";
const STASH: Most = [7.6, 3, WHY];

export const suite = suiteOf("survival", "What it costs to fail, to be told of an end, and to put messages aside.", [
  timed("restart: an ask that fails, its actor made anew", rawRestart, restart, [3.8, 1.5, WHY]),
  timed("watch: a child spawned, watched, stopped, and told of", rawWatch, watch, [6.6, 2.5, WHY]),
  timed("stash: 100 messages put aside and handled later, a message", rawStash(100), (all) => stash(all, 100), STASH),
]);
