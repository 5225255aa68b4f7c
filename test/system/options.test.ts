import { expect, test } from "bun:test";
import { address, createMessage, createRouter, createSystem, type SystemOptions } from "../../src/index";
import { createManualClock } from "../../src/testing/index";

const make = { createSystem, createRouter };

for (const [name, create] of Object.entries(make)) {
  const refuse = (options: unknown, sentence: RegExp): void => {
    let thrown: unknown;
    try {
      create(options as SystemOptions);
    } catch (error) {
      thrown = error;
    }
    expect({ options, thrown }).toEqual({ options, thrown: expect.any(Error) });
    expect((thrown as Error).message).toMatch(sentence);
  };

  test(`P15: ${name} takes no options, or each of them`, () => {
    const logger = { warn() {}, error() {}, info() {} };
    expect(() => create()).not.toThrow();
    expect(() => create({})).not.toThrow();
    expect(() =>
      create({ logger, clock: createManualClock(), validate: "always", askTimeout: Number.POSITIVE_INFINITY }),
    ).not.toThrow();
    expect(() => create({ validate: "boundary", askTimeout: 0.5 })).not.toThrow();
  });

  test(`P15: ${name} refuses an option that there is not, and says which there are`, () => {
    for (const option of ["timeout", "askTimeOut", "Logger", "toString", "__proto__"]) {
      const options = JSON.parse(`{ "${option}": 1 }`) as object;
      refuse(
        options,
        new RegExp(
          `There is no option "${option}" for a system; write one of name, logger, clock, validate, metrics, askTimeout`,
        ),
      );
    }
  });

  test(`${name} refuses options that are no object`, () => {
    for (const options of [null, "fast", 7]) refuse(options, /options of a system are an object/);
  });

  test(`P15: ${name} refuses a timeout that is none`, () => {
    for (const askTimeout of [0, -1, Number.NaN, Number.NEGATIVE_INFINITY, "500", null, {}, true]) {
      refuse({ askTimeout }, /askTimeout of a system is a number of milliseconds above 0, or Infinity; got /);
    }
  });

  test(`P15: ${name} refuses a way to validate that there is not`, () => {
    for (const validate of ["never", "", true, false, null, 1]) {
      refuse({ validate }, /validate of a system is "boundary" or "always"; got /);
    }
  });

  test(`${name} begins its log lines with its name, and refuses one that is none`, () => {
    for (const none of ["", 7, null, {}]) refuse({ name: none }, /name of a system is a text/);
    const lines: string[] = [];
    const log = (line: string): void => void lines.push(line);
    const made = create({ name: "shop", logger: { warn: log, error: log } });
    const router = "router" in made ? made.router : made;
    router.tell(createMessage(address("nobody"), "say", 1));
    expect(lines).toEqual([expect.stringMatching(/^shop: dead letter/)]);
  });

  test(`P15: ${name} refuses a logger or a clock that is none`, () => {
    for (const logger of [null, "console", {}, { warn() {} }, { error() {} }, () => {}]) {
      refuse({ logger }, /logger/);
    }
    for (const clock of [null, {}, Date, { wallTime: () => 0 }]) refuse({ clock }, /clock/);
  });
}
