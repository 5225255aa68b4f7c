import { type HeaderLine, type ReadLine, type RecordingLine, readLine } from "../format";
import { chunksOf } from "./chunks";
import { RecordingError, type RecordingFault } from "./faults";
import { Room } from "./room";
import { type TextLine, TextLines } from "./text-lines";

/** The most lines that are read before they are given on. */
const AT_ONCE = 1_000;

/** A line of a part, or what is wrong at its place. */
export type PartLine =
  | { readonly line: RecordingLine; readonly fault?: undefined }
  | { readonly line?: undefined; readonly fault: RecordingFault };

/**
 * The lines of a file, its header first. They come in lists, since each wait costs as much as a line.
 *
 * @throws RecordingError when it is no recording, or one of a later format, or has more than there is room for.
 */
export async function* readPart(path: string, room = new Room(Infinity)): AsyncGenerator<readonly PartLine[]> {
  const lines = new TextLines();
  let number = 0;
  const fault = (kind: RecordingFault["kind"], sentence: string): PartLine => ({
    fault: { kind, path, line: number, sentence },
  });
  const partLine = (text: TextLine): PartLine => {
    number++;
    const read = lineOf(text);
    if (number === 1) expectHeader(path, read);
    if (read.line !== undefined) return { line: read.line };
    return fault("broken", `Line ${number} of ${path} ${read.wrong}; it was passed over.`);
  };
  for await (const chunk of chunksOf(path)) {
    if (chunk.bytes !== undefined) {
      const { bytes } = chunk;
      room.take(bytes.length, path);
      let some: PartLine[] = []; // A compressed file may have so many empty lines that they do not fit into memory.
      for (const text of lines.read(bytes)) {
        if (some.push(partLine(text)) < AT_ONCE) continue;
        yield some;
        some = [];
      }
      if (some.length > 0) yield some;
    } else {
      if (number === 0 && !chunk.isCut) throw new RecordingError(`${path} is no recording: it ${chunk.wrong}.`);
      if (lines.drop()) number++;
      yield [fault(chunk.isLast ? "torn" : "broken", `${path} ${chunk.wrong}, behind line ${number}.`)];
    }
  }
  const last = lines.end();
  if (last === undefined) return;
  // Without a line end it is whole if it can be read: the beginning of an object of JSON is no JSON.
  if (lineOf(last).line !== undefined) yield [partLine(last)];
  else yield [fault("torn", `${path} ends within line ${++number}, which was not written whole.`)];
}

/** The header of a file. Undefined for one that ends before its header does. @throws RecordingError as `readPart` does. */
export async function readHeader(path: string): Promise<HeaderLine | undefined> {
  for await (const [first] of readPart(path)) {
    if (first !== undefined) return first.line?.kind === "header" ? first.line : undefined;
  }
  return undefined;
}

const lineOf = (text: TextLine): ReadLine => (text.wrong === undefined ? readLine(text.text) : text);

function expectHeader(path: string, { line, wrong, isNewer }: ReadLine): void {
  if (line?.kind === "header") return;
  if (isNewer === true) throw new RecordingError(`${path} ${wrong}: read it with a newer one.`);
  throw new RecordingError(
    `${path} is no recording: its first line ${line === undefined ? wrong : `is a ${line.kind} and no header`}.`,
  );
}
