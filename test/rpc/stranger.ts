import { heapStats } from "bun:jsc";
import { expect } from "bun:test";
import { type Channel, linesChannel } from "../../src/rpc/index";
import { type Message, request } from "./raw";

/** Messages of a flood. */
export const FLOOD = 100_000;
/** After so many wrong ones, a right one comes. */
export const EVERY = 1_000;

/** The other side of a channel of lines. It reads slowly, and keeps the answers that somebody awaits. */
export class Stranger {
  readonly channel: Channel;
  /** Lines that came. */
  heard = 0;
  readonly #awaited = new Map<unknown, (message: Message) => void>();
  #blocks: Iterator<string> = [].values();
  #wake = (): void => {};

  constructor() {
    const encoder = new TextEncoder();
    const input = new ReadableStream<Uint8Array>(
      { pull: async (it) => it.enqueue(encoder.encode(await this.#nextBlock())) },
      { highWaterMark: 0 },
    );
    this.channel = linesChannel(input, {
      write: (text) => this.#hear(text),
      flush: () => new Promise<void>((resolve) => setImmediate(resolve)), // The pipe is full now and then.
      end() {},
    });
  }

  /** Sends blocks of lines, each once the one before was read. */
  pour(blocks: Iterable<string>): void {
    this.#blocks = blocks[Symbol.iterator]();
    this.#wake();
  }

  /** The answer to a request, whose id is a text. */
  answerTo(id: string): Promise<Message> {
    return new Promise((resolve) => this.#awaited.set(id, resolve));
  }

  /** Sends a request, and gives its answer. */
  ask(id: string, method: string, params: object): Promise<Message> {
    const answer = this.answerTo(id);
    this.pour([`${JSON.stringify(request(id, method, params))}\n`]);
    return answer;
  }

  async #nextBlock(): Promise<string> {
    for (;;) {
      const step = this.#blocks.next();
      if (step.done !== true) return step.value;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #hear(text: string): void {
    for (const line of text.split("\n")) {
      if (line === "") continue;
      this.heard++;
      if (!line.includes('"id":"')) continue;
      const message: Message = JSON.parse(line);
      this.#awaited.get(message.id)?.(message);
      this.#awaited.delete(message.id);
    }
  }
}

/** The size of the heap at five times of a flood. */
export class Heap {
  readonly #sizes: number[] = [];

  measure(): void {
    Bun.gc(true);
    this.#sizes.push(heapStats().heapSize);
  }

  /** Holds it to be as it was after the first fifth. */
  expectFlat(): void {
    const [first = 0, ...later] = this.#sizes;
    expect(later).toHaveLength(4);
    expect(Math.max(...later) - first).toBeLessThan(4_000_000);
  }
}

export const idOf = (index: number): string => `right ${index}`;

/** A flood of wrong messages, with a right one after each thousand. */
export function* flood(wrong: readonly string[], right: (id: string, index: number) => object, heap: Heap) {
  for (let sent = 0; sent < FLOOD; ) {
    const lines = Array.from({ length: EVERY }, (_, index) => wrong[(sent + index) % wrong.length]);
    sent += EVERY;
    const index = sent / EVERY;
    lines.push(JSON.stringify(right(idOf(index), index)), "");
    if (sent % (FLOOD / 5) === 0) heap.measure();
    yield lines.join("\n");
  }
}

/** The answers to the right ones, in the order of their requests. */
export const rightAnswers = (stranger: Stranger): Promise<Message[]> =>
  Promise.all(Array.from({ length: FLOOD / EVERY }, (_, index) => stranger.answerTo(idOf(index + 1))));
