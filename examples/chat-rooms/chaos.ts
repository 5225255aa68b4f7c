import type { Factory, RefTo, SignaturesOf } from "envoi";
import { around, pick, type Random } from "./chance";
import { type Chaos, FAULTS, type Lobby } from "./protocols";

/** How long it waits between two strikes, about, in milliseconds. */
const EVERY = 150;

/** Strikes a room now and then. */
export function chaosIn(
  rooms: readonly string[],
  lobby: RefTo<typeof Lobby>,
  random: Random,
): Factory<SignaturesOf<typeof Chaos>> {
  return (ctx) => {
    function strikeLater(): void {
      ctx.timers.once("strike", around(EVERY, random), () => {
        ctx.tell(lobby, "strike", { room: pick(rooms, random), fault: pick(FAULTS, random) });
        strikeLater();
      });
    }
    return { onStart: strikeLater };
  };
}
