// The layer below sessions, for its benchmark. It is not part of the public API.
export { SessionStore } from "./sessions/store";
