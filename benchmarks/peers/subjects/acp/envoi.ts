import { readJson } from "envoi";
import { Completion } from "../../../harness/suite";
import { takenBy, toldBy, turns } from "../../../subjects/acp";
import type { AcpPeer, Decode } from "../../acp";

const LIMITS = { depth: 512 };

export const open = (): AcpPeer => ({
  start: "../subjects/starts/agent.ts",
  decode(level): Decode {
    if (level === "parse only") {
      return (all, count) => {
        let done = 0;
        for (let index = 0; index < count; index++) if (readJson(all[index % all.length] ?? "", LIMITS).isOk()) done++;
        return done;
      };
    }
    const completion = new Completion();
    const { take, refused } = takenBy(level, completion.arrive);
    return async (all, count) => {
      const [before, isWrong] = [refused(), all[0]?.includes("session/prompt") === true];
      const done = completion.expect(count);
      for (let index = 0; index < count; index++) take(all[index % all.length] ?? "");
      await done;
      return refused() - before === (isWrong ? count : 0) ? count : 0;
    };
  },
  encode(all, count) {
    let done = 0;
    const { tell } = toldBy(() => done++);
    for (let index = 0; index < count; index++) tell(all[index % all.length] ?? {});
    return done;
  },
  turn: async () => (await turns()).turn,
});
