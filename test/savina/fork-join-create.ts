import { defineProtocol, type System, Type } from "../../src/index";

const Forker = defineProtocol("forker", { fork: {}, join: { payload: Type.Number() } });
const Worker = defineProtocol("worker", { work: { payload: Type.Number() } });

export interface ForkJoinCreateAnswer {
  readonly joined: number;
  readonly sum: number;
}

/**
 * One actor spawns many children, each of which does one piece of work, reports it and stops. The pieces are numbered
 * from 0 to n - 1, so their numbers add up to n (n - 1) / 2.
 */
export async function forkJoinCreate(
  system: System,
  { workers = 40_000 }: { readonly workers?: number } = {},
): Promise<ForkJoinCreateAnswer> {
  const done = Promise.withResolvers<ForkJoinCreateAnswer>();

  const forker = system.spawn("forker", Forker, (ctx) => {
    let joined = 0;
    let sum = 0;
    return {
      fork() {
        for (let number = 0; number < workers; number++) {
          const worker = ctx.spawn(`worker-${number}`, Worker, (child) => ({
            work(piece) {
              child.tell(ctx.self, "join", piece);
              child.stop();
            },
          }));
          ctx.tell(worker, "work", number);
        }
      },
      join(piece) {
        joined++;
        sum += piece;
        if (joined === workers) done.resolve({ joined, sum });
      },
    };
  });

  forker.tell("fork");
  return done.promise;
}
