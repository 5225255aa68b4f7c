import type { CodePeer } from "../../code";
import { open as openIn } from "./envoi";

export const open = (): Promise<CodePeer> => openIn("", "process");
