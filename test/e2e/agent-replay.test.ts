import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSystem } from "envoi";
import { type RecordingLine, type ReplayReport, readRecording, replay } from "envoi/record";
import type { Happening } from "../../examples/agent-workspace/protocols";
import { scriptedPlanner } from "../../examples/agent-workspace/scripted/planner";
import { SYSTEM, spawnAgent, work } from "../../examples/agent-workspace/work";
import { all, folderWith, sample } from "./workspace";

const root = folderWith({ "data/penguins.csv": sample("penguins.csv") });
const elsewhere = mkdtempSync(join(tmpdir(), "envoi-record-"));
const path = join(elsewhere, "run.ndjson");
afterAll(() => {
  for (const folder of [root, elsewhere]) rmSync(folder, { recursive: true });
});

const quiet = { warn() {}, error() {} };
const task = "How does body mass differ between the species of penguins?";

/** One run against the scripted planner, real files and the sandbox. */
const recorded = all(work({ folder: root, task, planner: scriptedPlanner, record: path, logger: quiet })).then(
  async (happenings) => ({ happenings, lines: await Array.fromAsync(readRecording(path)) }),
);

/** Replays a run in a folder that is not there, without the planner; the agent says what happens, as before. */
async function replayed(
  recording: string | Iterable<RecordingLine>,
  maxSteps = 30,
): Promise<{ readonly report: ReplayReport; readonly happenings: Happening[] }> {
  const happenings: Happening[] = [];
  const report = await replay(recording, {
    setup({ clock, random, recorder }) {
      const system = createSystem({ ...SYSTEM, clock, random, logger: quiet });
      const planner = () => () => {
        throw new Error("the planner is in the recording");
      };
      spawnAgent(system, recorder(system), { folder: "/nowhere", planner, maxSteps });
      system.around((handling, run) => {
        const isItem = handling.kind === "pull" && handling.address === "@(agent)";
        run((outcome) => {
          const step = outcome.kind === "handled" && isItem ? (outcome.result as IteratorResult<Happening>) : undefined;
          if (step?.done === false) happenings.push(step.value);
        });
      });
      return system;
    },
  });
  return { report, happenings };
}

describe("the agent's run is recorded once, and replayed without files, sandbox and planner", () => {
  test("the same happens, and the report is the same, byte for byte", async () => {
    const { happenings, lines } = await recorded;
    const first = await replayed(path);
    expect(String(first.report)).toMatch(/: the same; 1 message sent, 1 compared, \d+ calls answered from it\n$/);
    expect(first.report).toMatchObject({ isSame: true, deviations: [], unreadable: 0 });
    expect(first.happenings).toEqual(happenings);
    const last = first.happenings.at(-1);
    const report = await Bun.file(join(root, "report/report.md")).text();
    expect(last?.kind === "finished" ? last.content : last).toBe(report);
    expect((await replayed(lines)).happenings).toEqual(happenings);
  });

  test("another answer of a tool is found, and told as a diff", async () => {
    const { lines } = await recorded;
    const changed = lines.map((line) => {
      if (line.kind !== "end" || line.value === undefined) return line;
      const text = JSON.stringify(line.value);
      return text.includes("species,island")
        ? { ...line, value: JSON.parse(text.replaceAll("Adelie", "Emperor")) }
        : line;
    });
    const { report } = await replayed(changed);
    expect(report.isSame).toBe(false);
    expect(report.deviations.map(({ kind }) => kind)).toContain("value");
    const text = String(report);
    expect(text).toContain("stream plan of planner is not in the recording");
    expect(text).toMatch(/^ +-.*Adelie/m);
    expect(text).toMatch(/^ +\+.*Emperor/m);
  });

  test("a change of the agent's code is found: here it may do fewer steps", async () => {
    const { report, happenings } = await replayed(path, 3);
    expect(happenings.at(-1)).toEqual({ kind: "failed", why: "The task was not done after 3 steps." });
    expect(report.deviations.map(({ kind }) => kind)).toContain("missing-items");
    expect(report.deviations.map(({ kind }) => kind)).toContain("unused");
    expect(String(report)).toContain("+ ");
  });
});
