import { expect, test } from "bun:test";
import fc from "fast-check";
import { address, isAddress, MAX_ID_LENGTH, parseAddress } from "../../src/message/address";
import { runs } from "./runs";

const REFUSED = /[\s()/\u2800]|\p{Cc}|\p{Cf}|\p{Cs}|\p{Default_Ignorable_Code_Point}|\p{Noncharacter_Code_Point}/u;
const character = fc.string({ unit: "binary", minLength: 1, maxLength: 1 }).filter((it) => !REFUSED.test(it));
const segment = fc.array(character, { minLength: 1, maxLength: 8 }).map((characters) => characters.join(""));
const segments = fc.array(segment, { minLength: 1, maxLength: 6 });

test("an id of segments without space, control, invisible character, parenthesis or slash makes an address, which comes apart again", () => {
  fc.assert(
    fc.property(segments, (parts) => {
      const id = parts.join("/");
      const made = address(id);
      expect(isAddress(made)).toBe(true);
      expect(parseAddress(made)._unsafeUnwrap()).toEqual({ address: made, id, segments: parts });
    }),
    runs(1_000),
  );
});

test("an id with one refused character, anywhere, makes none", () => {
  const refused = fc.constantFrom(
    ..." \t\n\r\u0000\u007f\u0085\u00a0\u2028\u3000\ufeff()\u200b\u200d\u202e\u2066\u00ad\ufe0f\u3164\u2800",
    "\ud800",
    "\udfff",
    "//",
  );
  fc.assert(
    fc.property(segments, refused, fc.nat(), (parts, bad, at) => {
      const id = parts.join("/");
      const place = at % (id.length + 1);
      const broken = id.slice(0, place) + bad + id.slice(place);
      // A surrogate may complete a pair that the cut took apart.
      if (broken.isWellFormed() && /[\ud800-\udfff]/.test(bad)) return;
      expect(isAddress(`@(${broken})`)).toBe(false);
      expect(() => address(broken)).toThrow(TypeError);
    }),
    runs(1_000),
  );
});

test("address, isAddress and parseAddress agree about any text, and only address throws", () => {
  const text = fc.oneof(fc.string({ unit: "binary" }), fc.string({ maxLength: MAX_ID_LENGTH + 2, size: "max" }));
  fc.assert(
    fc.property(text, (id) => {
      const isGood = isAddress(`@(${id})`);
      expect(parseAddress(`@(${id})`).isOk()).toBe(isGood);
      if (isGood) expect(address(id) as string).toBe(`@(${id})`);
      else expect(() => address(id)).toThrow(TypeError);
    }),
    runs(1_000),
  );
});

test("isAddress and parseAddress take any value at all without throwing", () => {
  fc.assert(
    fc.property(fc.anything({ withNullPrototype: true, withBigInt: true }), (value) => {
      if (typeof value === "string") return;
      expect(isAddress(value)).toBe(false);
      expect(parseAddress(value)._unsafeUnwrapErr().kind).toBe("invalid-address");
    }),
    runs(500),
  );
});
