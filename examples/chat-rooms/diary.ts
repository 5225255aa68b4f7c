import type { Entry, Post } from "./protocols";

/**
 * What one user knows for sure. It lives outside of the user's actors, as the log's entries do outside of the log: a real
 * chat has both on a disk. From it an actor that begins anew goes on, and the tally is counted.
 */
export interface Diary {
  readonly name: string;
  readonly room: string;
  /** In the order in which it was said. */
  readonly sent: Post[];
  /** The positions of the first so many of them: each is acknowledged before the next one leaves. */
  readonly acknowledged: number[];
  /** What was read, in that order. */
  readonly heard: Entry[];
  /** How often a post had to be sent again. */
  resent: number;
  /** How often the reader found that its mailbox had dropped something, and read it in the history. */
  caughtUp: number;
}

export const newDiary = (name: string, room: string): Diary => ({
  name,
  room,
  sent: [],
  acknowledged: [],
  heard: [],
  resent: 0,
  caughtUp: 0,
});
