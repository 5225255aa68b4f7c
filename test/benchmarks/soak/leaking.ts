import { createSystem } from "envoi";
import type { OpenLoad } from "../../../benchmarks/soak/load";
import { Sink } from "../../../benchmarks/subjects/echo";

/** An actor that keeps something of each message. */
export const open: OpenLoad = () => {
  const system = createSystem();
  const kept: object[] = [];
  const sink = system.spawn("sink", Sink, () => ({
    take(payload) {
      kept.push({ payload });
    },
  }));
  return {
    round: async () => {
      for (let i = 0; i < 50; i++) sink.tell("take", i);
      await Bun.sleep(1);
      return 50;
    },
    stop: () => system.shutdown().then(() => {}),
  };
};
