import { updated } from "../../../subjects/acp";
import type { AcpPeer } from "../../acp";
import { Lacks } from "../../room";

export const open = (): AcpPeer => ({
  start: "../subjects/starts/empty.ts",
  decode(level) {
    if (level !== "parse only") throw new Lacks("it checks nothing");
    return (all, count) => {
      let done = 0;
      for (let index = 0; index < count; index++) if (JSON.parse(all[index % all.length] ?? "").method !== "") done++;
      return done;
    };
  },
  encode(all, count) {
    let done = 0;
    for (let index = 0; index < count; index++) {
      const message = { jsonrpc: "2.0", method: "session/update", params: updated(all[index % all.length] ?? {}) };
      if (JSON.stringify(message).length > 0) done++;
    }
    return done;
  },
});
