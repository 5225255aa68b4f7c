/** What an actor does with a message; what it returns, or resolves to, answers an ask. */
export type Handler = (message: unknown) => unknown;

export type RowName =
  | "tell, 1,000 at once"
  | "ask, one after the other"
  | "ask, 100 in flight"
  | "ping-pong, a round trip"
  | "fan-out to 1,000, a message"
  | "spawn and stop"
  | "thread ring of 100, a hop"
  | "skynet, a leaf"
  | "heap of an idle actor"
  | "ticks of a 5 ms timer while two actors volley for 200 ms"
  | "the longest gap between them";
