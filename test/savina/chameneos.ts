import { defineProtocol, type RefTo, refSchema, type Static, type System, Type } from "../../src/index";

const Colour = Type.Union([Type.Literal("blue"), Type.Literal("red"), Type.Literal("yellow")]);
type Colour = Static<typeof Colour>;
const colours: readonly Colour[] = ["blue", "red", "yellow"];

/** What two become that meet: what both are, or else the third colour. */
const blend = (one: Colour, other: Colour): Colour =>
  one === other ? one : (colours.find((colour) => colour !== one && colour !== other) ?? one);

/** All that a creature needs of the one it meets. */
const Partner = refSchema<{ change: (colour: Colour) => void }>();

const Creature = defineProtocol("creature", {
  start: {},
  meet: { payload: Type.Object({ partner: Partner, colour: Colour }) },
  change: { payload: Colour },
  fade: {},
});
const Mall = defineProtocol("mall", {
  arrive: { payload: Type.Object({ creature: refSchema(Creature), colour: Colour }) },
  faded: { payload: Type.Number() },
});

/**
 * Creatures come to a mall, meet in pairs, change colour together and come again, until there were enough meetings. Who
 * meets whom is open; but a meeting has two sides, so what all creatures count together is twice the number of
 * meetings.
 */
export async function chameneos(
  system: System,
  { creatures = 100, meetings = 100_000 }: { readonly creatures?: number; readonly meetings?: number } = {},
): Promise<number> {
  const done = Promise.withResolvers<number>();

  const mall = system.spawn("mall", Mall, (ctx) => {
    let waiting: RefTo<typeof Creature> | null = null;
    let left = meetings;
    let faded = 0;
    let sides = 0;
    return {
      arrive({ creature, colour }) {
        if (left === 0) ctx.tell(creature, "fade");
        else if (waiting === null) waiting = creature;
        else {
          ctx.tell(waiting, "meet", { partner: creature, colour });
          waiting = null;
          left--;
        }
      },
      faded(met) {
        sides += met;
        if (++faded === creatures) done.resolve(sides);
      },
    };
  });

  for (let index = 0; index < creatures; index++) {
    const creature = system.spawn(`creature-${index}`, Creature, (ctx) => {
      let colour = colours[index % colours.length] ?? "blue";
      let met = 0;
      const become = (next: Colour): void => {
        colour = next;
        met++;
        ctx.tell(mall, "arrive", { creature: ctx.self, colour });
      };
      return {
        start: () => ctx.tell(mall, "arrive", { creature: ctx.self, colour }),
        meet({ partner, colour: other }) {
          const next = blend(colour, other);
          ctx.tell(partner, "change", next);
          become(next);
        },
        change: become,
        fade: () => ctx.tell(mall, "faded", met),
      };
    });
    creature.tell("start");
  }
  return done.promise;
}
