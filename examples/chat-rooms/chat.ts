import { type Clock, createSystem, createTopic, type Logger, type RefTo, type System } from "envoi";
import type { Random } from "./chance";
import { chaosIn } from "./chaos";
import { type Diary, newDiary } from "./diary";
import { LOBBY, lobbyOf } from "./lobby";
import { logOf } from "./log";
import { nameOfRoom, namesOfUsers } from "./names";
import { pause } from "./pause";
import { Chaos, type Entry, Lobby, Log, User } from "./protocols";
import { type Tally, tallyOf } from "./tally";
import { userOf } from "./user";
import { countEvents } from "./witness";

/** How long a user thinks, and how long the slow ones of them read a line, in milliseconds. */
const THINKS = 200;
const SLOW = 150;
/** How long the last posts may take to be delivered and read, in milliseconds. */
const LAST_WORDS = 30_000;

export interface ChatOptions {
  readonly rooms: number;
  readonly users: number;
  readonly chaos: boolean;
  /** Somebody who types: in the first room. */
  readonly person: { readonly name: string; readonly onHeard: (entry: Entry) => void } | null;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

export interface Chat {
  readonly system: System;
  /** Says something as the person. */
  say(text: string): void;
  /** Lets them talk for some time, or until the signal is aborted. */
  talk(milliseconds: number, until?: AbortSignal): Promise<void>;
  /**
   * Ends chaos, and lets what was said be delivered and read; then all stop, and are counted. An aborted signal cuts that
   * short: what is not acknowledged by then never will be. `onQuiet` is called before all stop.
   */
  leave(hurry?: AbortSignal, onQuiet?: () => void): Promise<Tally>;
}

/** Opens the rooms, and lets the users in. */
export function openChat({ rooms, users, chaos, person, clock, random, logger }: ChatOptions): Chat {
  const system = createSystem({ name: "chat", clock, random, logger });
  const events = countEvents(system);
  const roomNames = Array.from({ length: rooms }, (_, index) => nameOfRoom(index));
  const topics = new Map(roomNames.map((name) => [name, createTopic<Entry>(name)]));
  const entries: Entry[] = [];
  const diaries: Diary[] = [];
  const closing = new AbortController();

  // They stop in phases: the users first, so that nobody talks to a room that has closed; the log last.
  const log = system.spawn("log", Log, logOf(entries), { phase: 3 });
  const lobby = system.spawn("lobby", Lobby, lobbyOf(topics, log, clock, closing.signal), { ...LOBBY, phase: 2 });

  const members = namesOfUsers(users, person?.name).map((name, index) => join(name, index % rooms, index));
  const typist = person === null ? null : join(person.name, 0, null, person.onHeard);
  const striker = chaos ? system.spawn("chaos", Chaos, chaosIn(roomNames, lobby, random), { phase: 1 }) : null;

  function join(name: string, room: number, index: number | null, onHeard: (entry: Entry) => void = () => {}) {
    const [roomName, topic] = [...topics][room] ?? [];
    if (roomName === undefined || topic === undefined) throw new RangeError(`There is no room ${room}.`);
    const diary = newDiary(name, roomName);
    diaries.push(diary);
    const pace = index !== null && index % 3 === 2 ? SLOW : 0;
    const thinks = index === null ? null : THINKS;
    const factory = userOf({ diary, lobby, topic, clock, random, pace, thinks, onHeard });
    return system.spawn(`users/${name}`, User, factory, { phase: 1 });
  }

  async function finish(everybody: readonly RefTo<typeof User>[]): Promise<void> {
    if (striker !== null) await system.stop(striker);
    // What goes wrong here is seen in the tally.
    await Promise.all(everybody.map((user) => user.ask("finish", { timeout: LAST_WORDS })));
    await Promise.all(everybody.map((user) => user.ask("catchUp", { timeout: LAST_WORDS })));
  }

  return {
    system,
    say: (text) => typist?.tell("say", text),
    talk: (milliseconds, until) => pause(clock, milliseconds, until),
    async leave(hurry, onQuiet) {
      const everybody = typist === null ? members : [...members, typist];
      const cut = new Promise<void>((resolve) => hurry?.addEventListener("abort", () => resolve()));
      if (hurry?.aborted !== true) await Promise.race([finish(everybody), cut]);
      const isCutShort = hurry?.aborted === true;
      onQuiet?.();
      closing.abort();
      const { unfinished } = await system.shutdown();
      const audit = system.router.audit();
      return tallyOf({ entries, diaries, rooms, events: events(), audit, isCutShort, unfinished: unfinished.length });
    },
  };
}
