import { defineProtocol, type RefTo, type Static, type System, Type } from "../../src/index";
import { answered } from "./answered";
import { pick, seededRandom } from "./random";

const Ingredient = Type.Union([Type.Literal("tobacco"), Type.Literal("paper"), Type.Literal("matches")]);
type Ingredient = Static<typeof Ingredient>;
const ingredients: readonly Ingredient[] = ["tobacco", "paper", "matches"];

const Smoker = defineProtocol("smoker", {
  offered: { payload: Type.Array(Ingredient) },
  smoke: {},
  smoked: { reply: Type.Number() },
});
const Agent = defineProtocol("agent", {
  start: {},
  passed: {},
  took: { payload: Ingredient },
  smoked: {},
});

export interface CigaretteSmokersAnswer {
  readonly smoked: number;
  /** How often the wrong smoker took what lay on the table. */
  readonly wrong: number;
  /** Whether each smoker smoked as often as his turn came. */
  readonly isFair: boolean;
}

/**
 * Three smokers each have one ingredient without end; an agent lays the two others on the table by chance, round after
 * round, while the smokers of earlier rounds may still smoke. One cigarette is smoked for each round, by the one whose
 * turn it was.
 */
export async function cigaretteSmokers(
  system: System,
  { rounds = 10_000, seed = 1 }: { readonly rounds?: number; readonly seed?: number } = {},
): Promise<CigaretteSmokersAnswer> {
  const done = Promise.withResolvers<{ wrong: number; turns: ReadonlyMap<Ingredient, number> }>();

  const agent: RefTo<typeof Agent> = system.spawn("agent", Agent, (ctx) => {
    const random = seededRandom(seed);
    const turns = new Map<Ingredient, number>();
    let missing: Ingredient = "tobacco";
    let [round, answers, smoked, wrong] = [0, 0, 0, 0];

    const offer = (): void => {
      round++;
      answers = 0;
      missing = pick(ingredients, random);
      turns.set(missing, (turns.get(missing) ?? 0) + 1);
      const table = ingredients.filter((ingredient) => ingredient !== missing);
      for (const smoker of smokers) ctx.tell(smoker, "offered", table);
    };
    const heard = (): void => {
      if (++answers === smokers.length && round < rounds) offer();
      endWhenSmoked();
    };
    const endWhenSmoked = (): void => {
      if (smoked === rounds && answers === smokers.length) done.resolve({ wrong, turns });
    };

    return {
      start: offer,
      passed: heard,
      took(ingredient) {
        if (ingredient !== missing) wrong++;
        heard();
      },
      smoked() {
        smoked++;
        endWhenSmoked();
      },
    };
  });

  const smokers: RefTo<typeof Smoker>[] = ingredients.map((own) =>
    system.spawn(`smoker-with-${own}`, Smoker, (ctx) => {
      let smoked = 0;
      return {
        offered(table) {
          if (table.includes(own)) {
            ctx.tell(agent, "passed");
            return;
          }
          ctx.tell(agent, "took", own);
          ctx.tell(ctx.self, "smoke");
        },
        smoke() {
          smoked++;
          ctx.tell(agent, "smoked");
        },
        smoked: () => smoked,
      };
    }),
  );

  agent.tell("start");
  const { wrong, turns } = await done.promise;
  const smoked = (await Promise.all(smokers.map((smoker) => smoker.ask("smoked")))).map(answered);
  return {
    smoked: smoked.reduce((sum, each) => sum + each, 0),
    wrong,
    isFair: ingredients.every((own, index) => smoked[index] === (turns.get(own) ?? 0)),
  };
}
