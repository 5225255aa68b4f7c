import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { MetricFamily } from "../../../src/http/contract";
import { openMetrics, writeBound } from "../../../src/http/documents/open-metrics";
import { runs } from "../../property/runs";
import { parseOpenMetrics } from "./parse-open-metrics";

const gauge = (labels: Record<string, string>, value: number, help = "Help."): MetricFamily => ({
  name: "a_gauge",
  type: "gauge",
  help,
  samples: [{ labels, value }],
});

describe("OpenMetrics text", () => {
  test("of all types, as the standard writes it", () => {
    const text = openMetrics([
      { name: "a", type: "counter", help: "Counts.", samples: [{ labels: { b: "c" }, value: 17 }] },
      {
        name: "d_seconds",
        type: "histogram",
        unit: "seconds",
        help: "Times.",
        samples: [{ labels: {}, value: { bounds: [0.001, 1], buckets: [1, 0, 2], sum: 7.5, count: 3 } }],
      },
      { name: "e_bytes", type: "gauge", unit: "bytes", help: "", samples: [{ labels: {}, value: -1 }] },
      { name: "f", type: "gauge", help: "None yet.", samples: [] },
    ]);
    expect(text).toBe(
      [
        "# TYPE a counter",
        "# HELP a Counts.",
        'a_total{b="c"} 17',
        "# TYPE d_seconds histogram",
        "# UNIT d_seconds seconds",
        "# HELP d_seconds Times.",
        'd_seconds_bucket{le="0.001"} 1',
        'd_seconds_bucket{le="1.0"} 1',
        'd_seconds_bucket{le="+Inf"} 3',
        "d_seconds_count 3",
        "d_seconds_sum 7.5",
        "# TYPE e_bytes gauge",
        "# UNIT e_bytes bytes",
        "# HELP e_bytes ",
        "e_bytes -1",
        "# TYPE f gauge",
        "# HELP f None yet.",
        "# EOF",
        "",
      ].join("\n"),
    );
    expect([...parseOpenMetrics(text).keys()]).toEqual(["a", "d_seconds", "e_bytes", "f"]);
  });

  test("carries any text in a label and in the help; half a character becomes a whole one", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.string({ unit: fc.constantFrom("\\", '"', "\n", "n", "{", "}", ",", "=", " ") }),
    );
    fc.assert(
      fc.property(text, text, text, (label, other, help) => {
        const [family] = parseOpenMetrics(openMetrics([gauge({ label, other }, 1, help)])).values();
        expect(family?.samples[0]?.labels).toEqual({ label: label.toWellFormed(), other: other.toWellFormed() });
        expect(family?.help).toBe(help.toWellFormed());
      }),
      runs(150),
    );
    expect(openMetrics([gauge({ label: "\ud800" }, 1)])).toContain('label="\ufffd"');
  });

  test("carries any number", () => {
    fc.assert(
      fc.property(fc.double(), (value) => {
        const [family] = parseOpenMetrics(openMetrics([gauge({}, value)])).values();
        expect(family?.samples[0]?.value).toBe(value === 0 ? 0 : value);
      }),
      runs(200),
    );
  });

  test("writes bounds as the standard's examples have them", () => {
    const small = "0.0 0.001 0.002 0.01 0.1 0.9 0.95 0.99 0.999 1.0 1.7 10.0";
    const powers = "1e-10 1e-09 1e-05 0.0001 0.1 1.0 100000.0 1e+06 1e+10";
    for (const text of `${small} ${powers}`.split(" ")) expect(writeBound(Number(text))).toBe(text);
    expect(writeBound(1.6e-5)).toBe("1.6e-05");
  });
});

describe("the strict parser of these tests refuses", () => {
  const family = "# TYPE a_seconds histogram\n# UNIT a_seconds seconds\n# HELP a_seconds Help.\n";
  const buckets = 'a_seconds_bucket{le="1.0"} 1\na_seconds_bucket{le="+Inf"} 2\n';
  const totals = "a_seconds_count 2\na_seconds_sum 3\n";
  const page = `${family}${buckets}${totals}# EOF\n`;
  test("nothing of a good page", () => {
    expect(parseOpenMetrics(page).get("a_seconds")?.samples).toHaveLength(4);
  });
  test.each([
    ["no end", page.replace("# EOF\n", "")],
    ["a line behind the end", `${page}a 1\n`],
    ["a comment", page.replace("# UNIT", "# unit")],
    ["a unit that the name lacks", page.replace("# UNIT a_seconds seconds", "# UNIT a_seconds bytes")],
    ["a family twice", page.replace("# EOF\n", page)],
    ["a bound that is not canonical", page.replace("1.0", "1")],
    ["no +Inf", page.replace("+Inf", "5.0")],
    ["bounds that do not grow", page.replace("1.0", "+Inf").replace('"+Inf"} 2', '"1.0"} 2')],
    ["buckets that do not grow", page.replace('"1.0"} 1', '"1.0"} 3')],
    ["another count", page.replace("count 2", "count 3")],
    ["no sum", page.replace("a_seconds_sum 3\n", "")],
    ["a label that is not escaped", page.replace("1.0", '1"0')],
    ["a label twice", page.replace('{le="1.0"}', '{le="1.0",le="1.0"}')],
    ["a sample of another family", page.replace("a_seconds_sum", "b_seconds_sum")],
    ["a sample twice", page.replace(totals, `${totals}a_seconds_sum 3\n`)],
    ["a value that is none", page.replace("sum 3", "sum three")],
    ["a counter below zero", "# TYPE a counter\na_total -1\n# EOF\n"],
    ["a counter without its suffix", "# TYPE a counter\na 1\n# EOF\n"],
  ])("%s", (_, text) => {
    expect(text).not.toBe(page);
    expect(() => parseOpenMetrics(text)).toThrow();
  });
});
