import type { Factory, SignaturesOf } from "envoi";
import type { Entry, Log } from "./protocols";

/** A log that adds to `entries`, which outlive it. Whoever sends a post again gets the entry that it became the first time. */
export function logOf(entries: Entry[]): Factory<SignaturesOf<typeof Log>> {
  return () => {
    const byId = new Map(entries.map((entry) => [entry.id, entry]));
    const byRoom = Map.groupBy(entries, (entry) => entry.room);
    return {
      append(post) {
        const known = byId.get(post.id);
        if (known !== undefined) return known;
        const history = byRoom.get(post.room) ?? [];
        const entry = { ...post, position: history.length };
        byRoom.set(post.room, history);
        history.push(entry);
        byId.set(post.id, entry);
        entries.push(entry);
        return entry;
      },
      read: (room) => [...(byRoom.get(room) ?? [])],
    };
  };
}
