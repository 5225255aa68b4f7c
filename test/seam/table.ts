/** Measures the tables of docs/transports.md about what the distance changes, and writes them: `bun test/seam/table.ts`. Needs nats-server. */
import { join } from "node:path";
import { startNats } from "../../benchmarks/harness/nats-server";
import { measure } from "./measure";
import { connectionThatIsCut, nodeThatDies, workerThatDies } from "./places";
import { call } from "./same/caller";
import { inOneProcess, overNats, overWorkers } from "./same/places";

const PAGE = join(import.meta.dir, "../../docs/transports.md");

/** A column of a table: a text for each row, by the row's name. */
export type Column = Readonly<Record<string, string>>;

async function measured<Place extends AsyncDisposable, Outcome>(
  opening: Promise<Place>,
  run: (place: Place) => Promise<Outcome>,
): Promise<Outcome> {
  await using place = await opening;
  return await run(place);
}

/** Measures the columns of a table. They get the URL of a server of NATS. */
type Columns = Readonly<Record<string, (url: string) => Promise<Column>>>;

/** What each way of sending does when the link is cut. */
export const SEAM: Columns = {
  "a worker dies": () => measured(workerThatDies("process"), measure),
  "NATS: the node dies": (url) => measured(nodeThatDies(url), measure),
  "NATS: this node is cut off, and back within its lease": (url) => measured(connectionThatIsCut(url, false), measure),
  "NATS: … and back after its lease": (url) => measured(connectionThatIsCut(url, true), measure),
};

const differences = async (results: ReturnType<typeof call>): Promise<Column> => (await results).differences;

/** What one source does differently in one process, over workers and over NATS. */
export const DIFFERENCES: Columns = {
  "one process": () => differences(measured(inOneProcess(), call)),
  workers: () => differences(measured(overWorkers("process"), call)),
  NATS: (url) => differences(measured(overNats(url), call)),
};

/** The head of the first column. */
const FIRST = { seam: "sending", differences: "one source" };

const TABLES = { seam: SEAM, differences: DIFFERENCES };

/** Splits the page at the rows of a table. */
function split(page: string, name: keyof typeof TABLES): readonly [before: string, rows: string, after: string] {
  const [begin, end] = [`<!-- ${name}:begin -->\n`, `<!-- ${name}:end -->`];
  const [from, to] = [page.indexOf(begin) + begin.length, page.indexOf(end)];
  return [page.slice(0, from), page.slice(from, to), page.slice(to)];
}

const cellsOf = (row: string): readonly string[] => {
  const cells = row.split("|").slice(1, -1);
  return cells.map((cell) => cell.trim());
};

/** The columns of a table as the page has them. */
export async function readTable(name: keyof typeof TABLES): Promise<Readonly<Record<string, Column>>> {
  const [head = "", , ...rows] = split(await Bun.file(PAGE).text(), name)[1]
    .trim()
    .split("\n");
  const [, ...columns] = cellsOf(head);
  const outcomesOf = (at: number) =>
    Object.fromEntries(rows.map(cellsOf).map(([row = "", ...cells]) => [row, cells[at] ?? ""]));
  return Object.fromEntries(columns.map((column, at) => [column, outcomesOf(at)]));
}

async function writeTable(name: keyof typeof TABLES, url: string): Promise<void> {
  const found: [column: string, outcomes: Column][] = [];
  for (const [column, run] of Object.entries(TABLES[name])) found.push([column, await run(url)]);
  const rows = Object.keys(found[0]?.[1] ?? {}).map((row) => [
    row,
    ...found.map(([, outcomes]) => outcomes[row] ?? ""),
  ]);
  const head = [
    [FIRST[name], ...found.map(([column]) => column)],
    ["---", ...found.map(() => "---")],
  ];
  const text = [...head, ...rows].map((row) => `| ${row.join(" | ")} |\n`).join("");
  const [before, , after] = split(await Bun.file(PAGE).text(), name);
  await Bun.write(PAGE, before + text + after);
}

if (import.meta.main) {
  const server = await startNats();
  await writeTable("seam", server.url);
  await writeTable("differences", server.url);
  await server.close();
  await Bun.$`bun --bun run biome format --write ${PAGE}`.quiet();
}
