import { defineProtocol, type Static, Type } from "envoi";

const Position = Type.Integer({ minimum: 0 });

/** What a user says. Its id stays the same however often it is sent. */
export const Post = Type.Object({
  id: Type.String(),
  room: Type.String(),
  from: Type.String(),
  text: Type.String(),
});
export type Post = Static<typeof Post>;

/** A post in its room's history, and the how-manieth it is there, from 0. */
export const Entry = Type.Object({ ...Post.properties, position: Position });
export type Entry = Static<typeof Entry>;

/** What chaos does to a room. The second kind throws when the log has the post and its user has not been told. */
export const Fault = Type.Union([
  Type.Literal("throw"),
  Type.Literal("throw-late"),
  Type.Literal("hang"),
  Type.Literal("stop"),
]);
export type Fault = Static<typeof Fault>;
export const FAULTS = Fault.anyOf.map((literal) => literal.const);

/** What users ask a room for. The lobby takes the same, and forwards it: so nobody holds the reference to a room that is gone. */
const conversation = {
  /** Replies with the post's position once the log has it, and not before. */
  say: { payload: Post, reply: Position },
  /** The history from a position on. */
  since: { payload: Type.Object({ room: Type.String(), position: Position }), reply: Type.Array(Entry) },
  strike: { payload: Type.Object({ room: Type.String(), fault: Fault }) },
};

export const Room = defineProtocol("room", conversation);

/** Keeps the rooms open. */
export const Lobby = defineProtocol("lobby", conversation);

/** Keeps what was said: it is added to, and never changed. */
export const Log = defineProtocol("log", {
  /** Adds a post, unless it is there already. */
  append: { payload: Post, reply: Entry },
  /** The history of a room. */
  read: { payload: Type.String(), reply: Type.Array(Entry) },
});

export const User = defineProtocol("user", {
  say: { payload: Type.String() },
  /** Talks no more, and replies once all that was said is acknowledged. */
  finish: {},
  /** Replies once all that was said in the room has been read. */
  catchUp: {},
});

/** Reads what is said in a room. */
export const Reader = defineProtocol("reader", {
  hear: { payload: Entry },
  catchUp: {},
});

export const Chaos = defineProtocol("chaos", {});
