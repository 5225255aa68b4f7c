import { createSystem } from "envoi";
import type { OpenLoad } from "../../../benchmarks/soak/load";
import { Echo } from "../../../benchmarks/subjects/echo";

/** An actor that keeps nothing. */
export const open: OpenLoad = () => {
  const system = createSystem();
  const echo = system.spawn("echo", Echo, () => ({ say: (payload) => payload }));
  return {
    round: async () => {
      for (let i = 0; i < 50; i++) await echo.ask("say", i);
      await Bun.sleep(1);
      return 50;
    },
    stop: () => system.shutdown().then(() => {}),
  };
};
