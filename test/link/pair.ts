import { type AnyRef, createSystem, type Protocol, type Ref, type System, type SystemOptions } from "../../src/index";
import { type Binary, createLink, type Link, type LinkOptions } from "../../src/link/index";

const memoryOf = (bytes: Binary) => (ArrayBuffer.isView(bytes) ? (bytes.buffer as ArrayBuffer) : bytes); // None is shared.

/** Two systems joined by a link whose texts arrive in macrotasks, as those of another process do. */
export interface Pair {
  readonly here: System;
  readonly there: System;
  readonly link: Link;
  readonly far: Link;
  /** The texts that went each way. */
  readonly sent: { readonly toThere: string[]; readonly toHere: string[] };
  /** False for texts that were no frames. */
  readonly taken: boolean[];
  /** Exposes an actor of `there`, and gives the reference to it here. */
  reach<S>(ref: AnyRef, protocol: Protocol<string, S>): Ref<S>;
  /** Closes the connection under the links: `send` gives false from now on. */
  shut(): void;
  end(): Promise<void>;
}

type Beside = Partial<Omit<LinkOptions, "system" | "prefix" | "send">>;

export function createPair(beside: Beside & { readonly far?: Beside; readonly systems?: SystemOptions } = {}): Pair {
  const { far: farBeside = {}, systems = {}, ...options } = beside;
  const here = createSystem({ name: "here", logger: SILENT, ...systems });
  const there = createSystem({ name: "there", logger: SILENT, ...systems });
  const exposed = new Map<string, AnyRef>();
  const sent = { toThere: [] as string[], toHere: [] as string[] };
  const taken: boolean[] = [];
  let isOpen = true;
  const carry = (texts: string[], to: () => Link) => (text: string, bytes?: readonly Binary[]) => {
    if (!isOpen) return false;
    texts.push(text);
    // As between threads: the memory of bytes is taken over as they are sent.
    const moved = bytes && structuredClone(bytes, { transfer: bytes.map(memoryOf) });
    setImmediate(() => isOpen && taken.push(to().take(text, moved)));
    return true;
  };
  const link: Link = createLink({
    ...options,
    system: here,
    prefix: "there/",
    send: carry(sent.toThere, () => far),
    exposed: () => undefined,
  });
  const far: Link = createLink({
    ...farBeside,
    system: there,
    prefix: "here/",
    send: carry(sent.toHere, () => link),
    exposed: (at) => exposed.get(at) ?? farBeside.exposed?.(at),
  });
  return {
    here,
    there,
    link,
    far,
    sent,
    taken,
    reach(ref, protocol) {
      exposed.set(ref.address, ref);
      return link.ref(ref.address, protocol);
    },
    shut() {
      isOpen = false;
    },
    async end() {
      await Promise.all([here.shutdown(), there.shutdown()]);
    },
  };
}

export const SILENT = { warn: () => undefined, error: () => undefined };
