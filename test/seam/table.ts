/** Measures the table of the seam in docs/transports.md, and writes it: `bun test/seam/table.ts`. Needs nats-server. */
import { join } from "node:path";
import { startNats } from "../../benchmarks/harness/nats-server";
import { measure, type Outcomes } from "./measure";
import { connectionThatIsCut, nodeThatDies, type Place, workerThatDies } from "./places";

const PAGE = join(import.meta.dir, "../../docs/transports.md");
const [BEGIN, END] = ["<!-- seam:begin -->\n", "<!-- seam:end -->"];

/** The columns, each with a way to make what is cut. The URL is that of a server of NATS. */
export const COLUMNS: Readonly<Record<string, (url: string) => Promise<Place>>> = {
  "a worker dies": () => workerThatDies("process"),
  "NATS: the node dies": nodeThatDies,
  "NATS: this node is cut off, and back within its lease": (url) => connectionThatIsCut(url, false),
  "NATS: … and back after its lease": (url) => connectionThatIsCut(url, true),
};

/** The columns as the page has them. */
export async function readTable(): Promise<Readonly<Record<string, Outcomes>>> {
  const page = await Bun.file(PAGE).text();
  const lines = page
    .slice(page.indexOf(BEGIN) + BEGIN.length, page.indexOf(END))
    .trim()
    .split("\n");
  const cells = (line: string) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim());
  const [, ...columns] = cells(lines[0] ?? "");
  const rows = lines.slice(2).map(cells);
  const outcomesOf = (at: number) => Object.fromEntries(rows.map(([name, ...row]) => [name, row[at]]));
  return Object.fromEntries(columns.map((column, at) => [column, outcomesOf(at)]));
}

async function writeTable(): Promise<void> {
  const server = await startNats();
  const measured: [column: string, outcomes: Outcomes][] = [];
  for (const [column, open] of Object.entries(COLUMNS)) {
    await using place = await open(server.url);
    measured.push([column, await measure(place)]);
  }
  await server.close();
  const names = Object.keys(measured[0]?.[1] ?? {});
  const rows = names.map((name) => [name, ...measured.map(([, outcomes]) => outcomes[name] ?? "")]);
  const table = [["sending", ...measured.map(([column]) => column)], ["---", ...measured.map(() => "---")], ...rows];
  const text = table.map((row) => `| ${row.join(" | ")} |\n`).join("");
  const page = await Bun.file(PAGE).text();
  await Bun.write(PAGE, page.slice(0, page.indexOf(BEGIN) + BEGIN.length) + text + page.slice(page.indexOf(END)));
}

if (import.meta.main) await writeTable();
