import type { CodePeer } from "../../code/peer";
import { open as openIn } from "./envoi";

export const open = (): Promise<CodePeer> => openIn("process");
