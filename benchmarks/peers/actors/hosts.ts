import { join } from "node:path";
import { HostProcess } from "../host-process";
import type { Told } from "./host";
import type { ActorCandidate } from "./peer";

const HOST = join(import.meta.dir, "host.ts");

/** Starts a peer's process. */
export const hostOf = ({ name }: ActorCandidate, ...args: readonly string[]): HostProcess<Told> =>
  new HostProcess<Told>(HOST, name, ...args);

export const reasonIn = (told: Told | undefined): string => (told?.kind === "failed" ? told.reason : "it told nothing");
