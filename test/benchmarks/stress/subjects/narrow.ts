import { address, createMessage, createSystem, defineProtocol, Type } from "envoi";
import type { Open } from "../../../../benchmarks/stress/subject";

/** Under load in tests: an actor that takes 2 ms for each message, with room for 20. */
const Narrow = defineProtocol("narrow", { take: { payload: Type.Number(), reply: Type.Number() } });

export const open: Open = () => {
  const system = createSystem({ logger: { warn() {}, error() {} } });
  const { router } = system;
  const take = (number: number) => {
    const end = performance.now() + 2;
    while (performance.now() < end);
    return number;
  };
  system.spawn("narrow", Narrow, () => ({ take }), { capacity: 20, overflow: "reject" });
  let added = 0;
  return {
    operations: {
      async take(number) {
        const answer = await router.ask(createMessage(address("narrow"), "take", number), { timeout: 1_000 });
        return answer.isOk() ? Number(answer.value) : answer.error.kind;
      },
      lie: async (number) => number + 1,
      async fall(number) {
        throw new Error(`fell at ${number}`);
      },
    },
    commands: {
      add(by) {
        added += Number(by);
        return added;
      },
    },
    audit: () => router.audit(),
    async close() {
      await system.shutdown();
    },
  };
};
