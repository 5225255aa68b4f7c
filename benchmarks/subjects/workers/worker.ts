/** A worker of envoi: a thread or a process. */
import { serveWorker } from "envoi/workers";
import { createDesk, createSleeper, Desk, Sleeper } from "../desk";

serveWorker((system) => ({
  desk: system.spawn("desk", Desk, createDesk),
  sleeper: system.spawn("sleeper", Sleeper, createSleeper),
}));
