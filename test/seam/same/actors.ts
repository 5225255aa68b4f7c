import type { RefTo, System } from "../../../src/index";
import { Desk, type Log, Narrow } from "./protocols";

/** The actors, wherever they are. */
export function start(system: System) {
  let log: RefTo<typeof Log> | undefined;
  const say = (text: string): void => log?.tell("note", text);
  const desk = system.spawn("desk", Desk, (ctx) => {
    const added: number[] = [];
    return {
      meet(ref) {
        log = ref;
        say("we have met");
        return ref;
      },
      add: (number) => void added.push(number),
      added: () => added,
      echo: (value) => value,
      fill(form) {
        form.lines.push("filled");
        return form.lines.length;
      },
      fail(text) {
        throw new TypeError(text);
      },
      never(text) {
        ctx.progress(1, 2, "half");
        say(`${text} has begun`);
        return new Promise((_, reject) =>
          ctx.onAbort(() => {
            say(`${text} was given up`);
            reject(ctx.signal.reason);
          }),
        );
      },
      async *count(to) {
        let number = 0;
        try {
          while (number < to) yield ++number;
        } finally {
          say(number === to ? "all were produced" : "the reader left");
        }
      },
      async *failing() {
        yield 1;
        throw new TypeError("no more");
      },
      context: () => ({
        metadata: ctx.metadata,
        hasDeadline: ctx.deadline !== undefined,
        hasSender: ctx.sender !== undefined,
      }),
      async askBack(asker) {
        const pinged = await ctx.ask(asker, "ping", { timeout: 100 });
        return pinged.isOk() ? "answered" : pinged.error.kind;
      },
      stop: () => void system.stop(ctx.self),
    };
  });
  const narrow = system.spawn(
    "narrow",
    Narrow,
    () => ({
      take(text) {
        say(`${text} is taken`);
        return new Promise(() => undefined);
      },
    }),
    { capacity: 1 },
  );
  return { desk, narrow };
}
