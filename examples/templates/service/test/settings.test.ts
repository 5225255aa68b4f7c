import { expect, test } from "bun:test";
import { settingsOf } from "../src/settings";

const TOKEN = "0123456789abcdef012345==";

test("the environment says who may call, how often, and at which port", () => {
  expect(settingsOf({ TOKENS: `ada=${TOKEN}, bob=${TOKEN}2`, PORT: "8080", RATE_LIMIT: "1/s" })).toEqual({
    port: 8080,
    tokens: { [TOKEN]: "ada", [`${TOKEN}2`]: "bob" },
    rateLimit: "1/s",
  });
  expect(settingsOf({ TOKENS: `ada=${TOKEN}` })).toMatchObject({ port: 3000, rateLimit: "50/s;1000/min" });
});

test.each([
  [{}, "Say who may call"],
  [{ TOKENS: "ada" }, "TOKENS is a list"],
  [{ TOKENS: "ada=1234" }, "The token of ada is short"],
  [{ TOKENS: `ada=${TOKEN}`, PORT: "http" }, 'PORT is a whole number from 0 to 65535, and not "http".'],
])("a setting that is wrong is refused with a sentence: %p", (env, sentence) => {
  expect(() => settingsOf(env)).toThrow(sentence);
});
