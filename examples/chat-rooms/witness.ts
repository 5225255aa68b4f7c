import type { System, SystemEvent } from "envoi";

/** What happened to the rooms, and to messages. */
export interface EventCounts {
  /** Rooms that began: for the first time, or anew after they were stopped. */
  readonly started: number;
  /** Handlers and hooks of rooms that threw. */
  readonly failed: number;
  readonly restarted: number;
  /** Lines that the mailbox of a slow reader dropped. */
  readonly dropped: number;
  /** Acknowledgements that came after their user had given up. */
  readonly late: number;
}

const ROOM = /^@\(lobby\/[^/]+\)$/;

/** Whether it happened to a room. */
export const isOfRoom = ({ address }: SystemEvent): boolean => ROOM.test(address);

/** Counts the events of a system from now on. */
export function countEvents(system: System): () => EventCounts {
  const counts = { started: 0, failed: 0, restarted: 0, dropped: 0, late: 0 };
  system.events.subscribe((event) => {
    if (event.kind === "dead-letter") {
      if (event.letter.reason === "late-reply") counts.late++;
      if (event.letter.reason === "mailbox-full" && event.letter.operation === "hear") counts.dropped++;
    } else if (isOfRoom(event) && (event.kind === "started" || event.kind === "failed" || event.kind === "restarted")) {
      counts[event.kind]++;
    }
  });
  return () => ({ ...counts });
}
