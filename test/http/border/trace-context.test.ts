import { describe, expect, test } from "bun:test";
import { traceContextOf } from "../../../src/http/border/trace-context";
import { testSystems } from "../../actor/test-system";
import { post } from "../counter";
import { createService } from "./service";

const { createTestSystem } = testSystems();

const TRACE = "12345678901234567890123456789012";
const PARENT = "1234567890123456";
const traceparent = `00-${TRACE}-${PARENT}-01`;
const parentOf = (...values: readonly string[]) => {
  const headers = new Headers();
  for (const value of values) headers.append("traceparent", value);
  return traceContextOf(headers)?.traceparent;
};
const stateOf = (...values: readonly string[]) => {
  const headers = new Headers({ traceparent });
  for (const value of values) headers.append("tracestate", value);
  return traceContextOf(headers)?.tracestate;
};

describe("traceparent (the cases of the W3C's own tests)", () => {
  test.each([
    [traceparent, traceparent],
    [` \t${traceparent}\t `, traceparent],
    [`00-${TRACE}-${PARENT}-00`, `00-${TRACE}-${PARENT}-00`],
    [`00-${TRACE}-${PARENT}-03`, `00-${TRACE}-${PARENT}-03`], // Random, of level 2.
    [`00-${TRACE}-${PARENT}-ff`, `00-${TRACE}-${PARENT}-03`], // Flags that are not known are not handed on.
    [`cc-${TRACE}-${PARENT}-01`, traceparent],
    [`cc-${TRACE}-${PARENT}-03`, traceparent],
    [`cc-${TRACE}-${PARENT}-01-what-the-future-will-be-like`, traceparent],
    [`cc-${TRACE}-${PARENT}-01-${"x".repeat(100_000)}`, traceparent],
  ])("%p is taken", (value, expected) => {
    expect(parentOf(value)).toBe(expected);
  });

  test.each([
    `00-${TRACE}-${PARENT}-01.`,
    `00-${TRACE}-${PARENT}-01-what-the-future-will-be-like`,
    `cc-${TRACE}-${PARENT}-01.what-the-future-will-be-like`,
    `ff-${TRACE}-${PARENT}-01`,
    `.0-${TRACE}-${PARENT}-01`,
    `0.-${TRACE}-${PARENT}-01`,
    `000-${TRACE}-${PARENT}-01`,
    `0-${TRACE}-${PARENT}-01`,
    `00-${"0".repeat(32)}-${PARENT}-01`,
    `00-.${TRACE.slice(1)}-${PARENT}-01`,
    `00-${TRACE}3-${PARENT}-01`,
    `00-${TRACE.slice(1)}-${PARENT}-01`,
    `00-${TRACE}-${"0".repeat(16)}-01`,
    `00-${TRACE}-.${PARENT.slice(1)}-01`,
    `00-${TRACE}-${PARENT}7-01`,
    `00-${TRACE}-${PARENT.slice(1)}-01`,
    `00-${TRACE}-${PARENT}-.0`,
    `00-${TRACE}-${PARENT}-001`,
    `00-${TRACE}-${PARENT}-1`,
    `00-${"ABCDEF12".repeat(4)}-${PARENT}-01`,
    "",
    "x".repeat(100_000),
  ])("%p is none", (value) => {
    expect(parentOf(value)).toBeUndefined();
  });

  test("more than one are none, also of a later version", () => {
    expect(parentOf(traceparent, traceparent)).toBeUndefined();
    expect(parentOf(`cc-${TRACE}-${PARENT}-01`, `cc-${TRACE}-${PARENT}-01`)).toBeUndefined();
  });
});

describe("tracestate (the cases of the W3C's own tests)", () => {
  const value = Array.from({ length: 0x5f }, (_, n) => String.fromCharCode(0x20 + n))
    .join("")
    .replaceAll(/[,=]/g, "");
  const members = (count: number, of = (n: number) => `bar${n}=1`) =>
    Array.from({ length: count }, (_, n) => of(n)).join(",");

  test.each([
    [["foo=1,bar=2"], "foo=1,bar=2"],
    [["foo=1 \t , \t bar=2, \t baz=3"], "foo=1,bar=2,baz=3"],
    [["foo=1", "", "bar=2"], "foo=1,bar=2"],
    [["foo=1,bar=2", "rojo=1,congo=2", "baz=3"], "foo=1,bar=2,rojo=1,congo=2,baz=3"],
    [[`abcdefghijklmnopqrstuvwxyz0123456789_-*/=${value}~`], `abcdefghijklmnopqrstuvwxyz0123456789_-*/=${value}~`],
    [["0tenant@a-z0-9_-*/=1"], "0tenant@a-z0-9_-*/=1"],
    [[`${"z".repeat(256)}=1`], `${"z".repeat(256)}=1`],
    [[`${"t".repeat(241)}@${"v".repeat(14)}=1`], `${"t".repeat(241)}@${"v".repeat(14)}=1`],
    [[`foo=${"v".repeat(256)}`], `foo=${"v".repeat(256)}`],
    [[members(32)], members(32)],
  ])("%p is taken", (values, expected) => {
    expect(stateOf(...values)).toBe(expected);
  });

  test.each([
    [[""]],
    [["foo=1,foo=1"]],
    [["foo=1", "foo=2"]],
    [["foo =1"]],
    [["FOO=1"]],
    [["foo.bar=1"]],
    [["foo@=1,bar=2"]],
    [["@foo=1,bar=2"]],
    [["foo@@bar=1,bar=2"]],
    [["foo@bar@baz=1,bar=2"]],
    [["foo"]],
    [["foo="]],
    [["=1"]],
    [["foo=bar=baz"]],
    [["foo=é"]],
    [[`${"z".repeat(257)}=1`]],
    [[`${"t".repeat(242)}@v=1`]],
    [[`t@${"v".repeat(15)}=1`]],
    [[`foo=${"v".repeat(257)}`]],
    [[members(33)]],
    [[members(5_000)]],
    [[`foo=1${" ".repeat(100_000)}x`]],
  ])("%p is none, and the traceparent stays", (values) => {
    expect(stateOf(...values)).toBeUndefined();
    expect(parentOf(traceparent)).toBe(traceparent);
  });

  test("of more than 512 characters loses its large members first, and then its last ones", () => {
    const large = `large=${"v".repeat(200)}`;
    expect(stateOf(members(20, (n) => `${large}`.replace("=", `${n}=`)))?.length).toBeLessThanOrEqual(512);
    expect(stateOf(`${large},${members(31, (n) => `k${n + 10}=${"v".repeat(9)}`)}`)).toBe(
      members(31, (n) => `k${n + 10}=${"v".repeat(9)}`),
    );
    const small = stateOf(members(32, (n) => `k${n + 10}=${"v".repeat(20)}`)) ?? "";
    expect(small.length).toBeGreaterThan(480);
    expect(small.length).toBeLessThanOrEqual(512);
    expect(small).toStartWith("k10=");
  });

  test("without a traceparent, or with one that is none, counts for nothing", () => {
    expect(traceContextOf(new Headers({ tracestate: "foo=1" }))).toBeUndefined();
    expect(traceContextOf(new Headers({ traceparent: "00-1", tracestate: "foo=1" }))).toBeUndefined();
  });
});

test("P18: handlers read the trace context, and nothing else that a client sent", async () => {
  const gateway = createService(createTestSystem());
  const told = async (headers: Record<string, string>) =>
    (await post(gateway, "/actors/counter/told", null, headers)).json();
  expect(await told({ traceparent, tracestate: "a=1", baggage: "user=root", caller: "root" })).toEqual({
    traceparent,
    tracestate: "a=1",
  });
  expect(await told({ traceparent: `${traceparent}.`, tracestate: "a=1" })).toEqual({});
});
