import type { SignalName } from "envoi";
import { type Equal, expectType } from "./expect";

// The names are written out, so that who has neither Node's types nor Bun's can compile the declarations.
expectType<Equal<SignalName, NodeJS.Signals>>();
