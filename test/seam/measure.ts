import { type DeliveryError, defineProtocol, type Result, refSchema, Type } from "../../src/index";
import type { Place } from "./places";
import { Narrow, Subject } from "./protocols";

/** What became of each sending, by its name. */
export type Outcomes = Readonly<Record<string, string>>;

const FOREVER = { timeout: Number.POSITIVE_INFINITY };
/** The longest that a durable send takes. */
const LONG = { timeout: 60_000 };

const Watcher = defineProtocol("watcher", { watch: { payload: refSchema(Subject), reply: Type.Null() } });

/** Sends in each way before a link is cut, while it is, and once it is back, and tells what became of it. */
export async function measure(place: Place): Promise<Outcomes> {
  const { system, durable } = place;
  const subject = place.ref("subject", Subject);
  const narrow = place.ref("narrow", Narrow);
  let isBack = false;
  let isOver = false;
  const told = (outcome: string): string => (isBack ? `${outcome}, once it is back` : outcome);
  const resultOf = async (result: Promise<Result<unknown, DeliveryError>>, good = "handled"): Promise<string> => {
    const settled = await result;
    return told(settled.isOk() ? good : `\`${settled.error.kind}\``);
  };
  /** Reads until an item has come, or to the end. */
  const read = async (until: "an item" | "the end", onItem: () => void = () => undefined): Promise<string> => {
    try {
      for await (const _ of subject.stream("items", FOREVER)) {
        if (until === "an item") return told("handled");
        onItem();
      }
      return told("ended");
    } catch (error) {
      return told(`\`${(error as DeliveryError).kind}\``); // A stream throws what an ask returns.
    }
  };
  /** Watches the actor there. Its end, at the end of all, is told to a watch that goes on. */
  const watch = async (name: string): Promise<{ readonly told: Promise<string> }> => {
    const end = Promise.withResolvers<string>();
    const watcher = system.spawn(name, Watcher, (ctx) => ({
      watch(ref) {
        ctx.watch(ref, ({ reason }) => end.resolve(isOver ? "goes on" : told(`\`${reason}\` is told`)));
        return null;
      },
    }));
    await watcher.ask("watch", subject);
    return { told: end.promise };
  };
  const letters = new Map<unknown, string>();
  system.router.deadLetters.subscribe(({ message, reason }) => letters.set(message.payload, reason));

  // Before the cut.
  await durable?.tell("note", "durable at first", LONG);
  const watchBefore = await watch("watcher-before");
  const askBefore = resultOf(subject.ask("wait", "asked", FOREVER));
  const streaming = Promise.withResolvers<void>();
  const streamBefore = read("the end", streaming.resolve);
  narrow.tell("take", "taken");
  await Promise.all([place.heard("asked"), place.heard("taken"), streaming.promise]);
  await narrow.offer("take", "fills the mailbox", FOREVER);
  const offerBefore = resultOf(narrow.offer("take", "waits", FOREVER));
  await subject.ask("echo", "the offer has come before this", FOREVER);
  const durableBefore = durable && resultOf((await place.interrupt(durable)).stored, "stored");
  await place.cut();

  // Meanwhile.
  const askMeanwhile = resultOf(subject.ask("echo", "asked meanwhile", FOREVER));
  const offerMeanwhile = resultOf(subject.offer("note", "offered meanwhile", FOREVER));
  const streamMeanwhile = read("an item");
  subject.tell("note", "told meanwhile");
  const watchMeanwhile = await watch("watcher-meanwhile");
  const durableMeanwhile = durable && resultOf(durable.tell("note", "durable meanwhile", LONG), "stored");
  const waiting = [askBefore, offerBefore, streamBefore, askMeanwhile, offerMeanwhile, streamMeanwhile];
  await place.spent(waiting, [durableBefore, durableMeanwhile]);
  isBack = true;
  await place.mend();
  await Promise.all([...waiting, durableBefore, durableMeanwhile]);

  // Once it is back.
  isBack = false;
  const after = [
    await resultOf(subject.ask("echo", "asked after", FOREVER)),
    await resultOf(subject.offer("note", "offered after", FOREVER)),
    await read("an item"),
  ];
  const watchAfter = await watch("watcher-after");
  subject.tell("note", "told after");
  if (durable !== undefined) after.push(await resultOf(durable.tell("note", "durable after", LONG)));
  const noted = async (): Promise<readonly string[]> => (await subject.ask("noted", FOREVER)).unwrapOr([]);
  if (durable !== undefined) while (!(await noted()).includes("durable after")); // It comes behind the other durable ones.
  const all = await noted();
  const times = (text: string): number => all.filter((each) => each === text).length;
  after.push(times("told after") === 1 ? "handled" : "lost");

  // The actor's end is told to all that still watch it.
  isOver = true;
  subject.tell("stop");
  after.push((await watchAfter.told).replace("goes on", "handled"));

  const letter = letters.get("told meanwhile");
  const handled = (count: number): string => (count === 1 ? "handled" : `handled ${count} times`);
  const durableText = async (stored: Promise<string> | undefined, text: string): Promise<string> => {
    if (stored === undefined) return "–";
    const outcome = await stored;
    return outcome.startsWith("stored") ? `${outcome}; ${handled(times(text))}` : outcome;
  };
  return {
    "an `ask` that waits": await askBefore,
    "an `ask` meanwhile": await askMeanwhile,
    "a `tell` meanwhile":
      times("told meanwhile") > 0 ? told("handled") : letter === undefined ? "lost" : `a dead letter, \`${letter}\``,
    "an `offer` that waits": await offerBefore,
    "an `offer` meanwhile": await offerMeanwhile,
    "a `stream` in its middle": await streamBefore,
    "a `stream` meanwhile": await streamMeanwhile,
    "a watch from before": await watchBefore.told,
    "a watch meanwhile": await watchMeanwhile.told,
    "a durable send on its way": await durableText(durableBefore, "durable before"),
    "a durable send meanwhile": await durableText(durableMeanwhile, "durable meanwhile"),
    "each of them, once it is back": [...new Set(after)].join(", "),
  };
}
