import { RawMailbox } from "./raw-mailbox";
import { Completion, type Floor, type Prepared } from "./suite";

const floor = (name: string, about: string, setup: Floor["setup"]): Floor => ({
  name,
  about: `the bare mailbox: ${about}`,
  setup,
});

function tellInBatches(operations: number, width: number): Prepared {
  const completion = new Completion();
  const mailbox = new RawMailbox<number>(completion.arrive);
  const run = async () => {
    for (let sent = 0; sent < operations; sent += width) {
      const done = completion.expect(width);
      for (let i = 0; i < width; i++) mailbox.tell(i);
      await done;
    }
  };
  return { run, completed: completion.completed };
}

/** Tells to one raw mailbox, timed until the last is handled. */
export const rawTell = floor("raw tell", "all tells at once, until the last is handled", (operations) =>
  tellInBatches(operations, operations),
);

/** Tells to one raw mailbox, `width` at once, until the last is handled; then the next `width`. */
export const rawTells = (width: number): Floor =>
  floor(
    `raw tell, ${width} at once`,
    `${width} tells, until the last is handled, then the next ${width}`,
    (operations) => tellInBatches(operations, width),
  );

/** Tells to one raw mailbox out of a turn of another, until the last is handled. */
export const rawInside = floor("raw tell from inside", "one tells another so often in one turn", (operations) => {
  const completion = new Completion();
  const sink = new RawMailbox<number>(completion.arrive);
  const teller = new RawMailbox<number>((count) => {
    for (let i = 0; i < count; i++) sink.tell(i);
  });
  const run = () => {
    const done = completion.expect(operations);
    teller.tell(operations);
    return done;
  };
  return { run, completed: completion.completed };
});

/** Asks of one raw mailbox, each awaited before the next. */
export const rawAsk = floor("raw ask", "asks, each awaited before the next", (operations) => {
  let completed = 0;
  const mailbox = new RawMailbox<number>((payload) => payload);
  const run = async () => {
    for (let i = 0; i < operations; i++) {
      if ((await mailbox.ask(i)) === i) completed++;
    }
  };
  return { run, completed: () => completed };
});

/** Asks of one raw mailbox, `width` of them in flight; then the next `width`. */
export const rawAsks = (width: number): Floor =>
  floor(
    `raw ask, ${width} in flight`,
    `${width} asks at once, awaited with \`Promise.all\`, then the next ${width}`,
    (operations) => {
      let completed = 0;
      const mailbox = new RawMailbox<number>((payload) => payload);
      const run = async () => {
        for (let sent = 0; sent < operations; sent += width) {
          const replies: Promise<unknown>[] = [];
          for (let i = 0; i < width; i++) replies.push(mailbox.ask(i));
          const values = await Promise.all(replies);
          for (let i = 0; i < width; i++) if (values[i] === i) completed++;
        }
      };
      return { run, completed: () => completed };
    },
  );

/** Half tells and half asks, `width` of them at once, until all are handled and answered; then the next `width`. */
export const rawMixed = (width: number): Floor =>
  floor(
    `raw mixed, ${width} at once`,
    `${width / 2} tells and ${width / 2} asks at once, until all are handled and answered`,
    (operations) => {
      let told = 0;
      let answered = 0;
      const mailbox = new RawMailbox<number>((payload) => (payload < 0 ? told++ : payload));
      const run = async () => {
        for (let sent = 0; sent < operations; sent += width) {
          const replies: Promise<unknown>[] = [];
          for (let i = 0; i < width / 2; i++) {
            mailbox.tell(-1);
            replies.push(mailbox.ask(i));
          }
          const values = await Promise.all(replies);
          for (let i = 0; i < width / 2; i++) if (values[i] === i) answered++;
        }
      };
      return { run, completed: () => told + answered };
    },
  );

/** Round trips of one ball between two raw mailboxes. */
export const rawPingPong = floor("raw ping-pong", "round trips between two, one after the other", (operations) => {
  const completion = new Completion();
  const ping: RawMailbox<number> = new RawMailbox((ball) => {
    if (completion.arrive()) pong.tell(ball);
  });
  const pong: RawMailbox<number> = new RawMailbox((ball) => ping.tell(ball));
  const run = () => {
    const done = completion.expect(operations);
    pong.tell(1);
    return done;
  };
  return { run, completed: completion.completed };
});

/** A message handed on along `length` raw mailboxes; then the next. */
export const rawChain = (length: number): Floor =>
  floor(`raw chain of ${length}`, `a message handed on along ${length} of them`, (operations) => {
    const completion = new Completion();
    let first = new RawMailbox<number>(completion.arrive);
    for (let i = 1; i < length; i++) {
      const next = first;
      first = new RawMailbox((payload) => {
        completion.arrive();
        next.tell(payload);
      });
    }
    const run = async () => {
      for (let sent = 0; sent < operations; sent += length) {
        const done = completion.expect(length);
        first.tell(sent);
        await done;
      }
    };
    return { run, completed: completion.completed };
  });

/** One raw mailbox tells each of `width` others, until the last has handled it; then again. */
export const rawFanOut = (width: number): Floor =>
  floor(`raw fan-out to ${width}`, `one tells ${width} others, until the last has handled it`, (operations) => {
    const completion = new Completion();
    const leaves = Array.from({ length: width }, () => new RawMailbox<number>(completion.arrive));
    const root = new RawMailbox<number>((payload) => {
      for (const leaf of leaves) leaf.tell(payload);
    });
    const run = async () => {
      for (let sent = 0; sent < operations; sent += width) {
        const done = completion.expect(width);
        root.tell(sent);
        await done;
      }
    };
    return { run, completed: completion.completed };
  });

/** `width` tells that one raw mailbox adds up, and an ask for the sum; then again. */
export const rawAggregation = (width: number): Floor =>
  floor(`raw aggregation of ${width}`, `${width} tells that it adds up, then an ask for the sum`, (operations) => {
    let completed = 0;
    let sum = 0;
    const mailbox = new RawMailbox<number>((payload) => {
      const before = sum;
      sum = payload < 0 ? 0 : sum + payload;
      return before;
    });
    const run = async () => {
      for (let sent = 0; sent < operations; sent += width) {
        for (let i = 0; i < width; i++) mailbox.tell(1);
        if ((await mailbox.ask(-1)) === width) completed += width;
      }
    };
    return { run, completed: () => completed };
  });

/** A raw mailbox made under a name, stopped by a message, the stop confirmed, and the name freed. */
export const rawSpawnStop = floor(
  "raw spawn and stop",
  "made, put in a `Map` by name, told to stop, the stop awaited, taken out of the `Map`",
  (operations) => {
    let completed = 0;
    let made = 0;
    const directory = new Map<string, RawMailbox<string>>();
    const run = async () => {
      for (let i = 0; i < operations; i++) {
        const name = `actor-${made++}`;
        const mailbox = new RawMailbox<string>((message) => message === "stop");
        directory.set(name, mailbox);
        if ((await mailbox.ask("stop")) === true && directory.delete(name)) completed++;
      }
    };
    return { run, completed: () => completed };
  },
);

type SkynetMessage = { readonly first: number; readonly leaves: number } | { readonly sum: number };

/** A tree of raw mailboxes, ten children each, down to the leaves, whose numbers are added up on the way back. */
export const rawSkynet = floor("raw skynet", "a tree of them, ten children each, its leaves added up", (leaves) => {
  let completed = 0;
  const run = async () => {
    const sum = await new Promise<number>((resolve) => {
      const top = new RawMailbox<SkynetMessage>((message) => {
        if ("sum" in message) resolve(message.sum);
      });
      skynetNode(top).tell({ first: 0, leaves });
    });
    if (sum === (leaves * (leaves - 1)) / 2) completed += leaves;
  };
  return { run, completed: () => completed };
});

function skynetNode(parent: RawMailbox<SkynetMessage>): RawMailbox<SkynetMessage> {
  let missing = 0;
  let total = 0;
  const node: RawMailbox<SkynetMessage> = new RawMailbox((message) => {
    if ("sum" in message) {
      total += message.sum;
      if (--missing === 0) parent.tell({ sum: total });
    } else if (message.leaves === 1) parent.tell({ sum: message.first });
    else {
      const { first, leaves } = message;
      missing = Math.min(10, leaves);
      for (let left = missing, from = 0; left > 0; left--) {
        const share = Math.floor((leaves - from) / left);
        skynetNode(node).tell({ first: first + from, leaves: share });
        from += share;
      }
    }
  });
  return node;
}

// What bounds and pools come down to, by hand.

/** A queue with a bound, and senders that wait for room in it. */
export const rawOffers = (capacity: number, senders: number): Floor => ({
  name: `raw offer, ${senders} senders`,
  about: `an array of at most ${capacity}, drained in a microtask; ${senders} senders, each of which awaits a promise while it is full`,
  setup(operations) {
    const completion = new Completion();
    const queue: number[] = [];
    const waiting: (() => void)[] = [];
    let isScheduled = false;
    const drain = () => {
      isScheduled = false;
      while (queue.length > 0) {
        queue.shift();
        completion.arrive();
        waiting.shift()?.();
      }
    };
    const offer = async (payload: number) => {
      while (queue.length >= capacity) await new Promise<void>((resolve) => waiting.push(resolve));
      queue.push(payload);
      if (isScheduled) return;
      isScheduled = true;
      queueMicrotask(drain);
    };
    const send = async () => {
      for (let i = 0; i < operations / senders; i++) await offer(i);
    };
    const run = async () => {
      const done = completion.expect(operations);
      await Promise.all(Array.from({ length: senders }, send));
      await done;
    };
    return { run, completed: completion.completed };
  },
});

/** Asks spread over several raw mailboxes in turn, `width` in flight. */
export const rawPool = (size: number, width: number): Floor => ({
  name: `raw pool of ${size}, ${width} in flight`,
  about: `${size} bare mailboxes in an array, ${width} asks in turn, awaited with \`Promise.all\`, then the next ${width}`,
  setup(operations) {
    const workers = Array.from({ length: size }, () => new RawMailbox<number>((payload) => payload));
    let completed = 0;
    let turn = 0;
    const run = async () => {
      for (let sent = 0; sent < operations; sent += width) {
        const replies: (Promise<unknown> | undefined)[] = [];
        for (let i = 0; i < width; i++) replies.push(workers[turn++ % size]?.ask(i));
        const values = await Promise.all(replies);
        for (let i = 0; i < width; i++) if (values[i] === i) completed++;
      }
    };
    return { run, completed: () => completed };
  },
});

/** An ask of each of several raw mailboxes, until the first has answered, or until all have. */
export const rawAskAll = (size: number, isFirstEnough: boolean): Floor => ({
  name: isFirstEnough ? `raw first answer of ${size}` : `raw broadcast to ${size}`,
  about: `${size} bare mailboxes, each asked, awaited with \`Promise.${isFirstEnough ? "any" : "all"}\`, one after the other`,
  setup(operations) {
    const workers = Array.from({ length: size }, () => new RawMailbox<number>((payload) => payload));
    let completed = 0;
    const run = async () => {
      for (let i = 0; i < operations; i++) {
        const replies = workers.map((worker) => worker.ask(i));
        const reply = isFirstEnough ? await Promise.any(replies) : (await Promise.all(replies))[0];
        if (reply === i) completed++;
      }
    };
    return { run, completed: () => completed };
  },
});
