/** The *raw* floor: the quickest bare mailbox that we could write. With an object for each message a burst took twice as long. */
export class RawMailbox<Payload> {
  private queue: unknown[] = [];
  private spare: unknown[] = [];
  private isScheduled = false;
  constructor(private readonly handler: (payload: Payload) => unknown) {}

  tell(payload: Payload): void {
    this.push(payload, undefined);
  }

  ask(payload: Payload): Promise<unknown> {
    return new Promise((resolve) => this.push(payload, resolve));
  }

  private push(payload: Payload, resolve: ((reply: unknown) => void) | undefined): void {
    this.queue.push(payload, resolve);
    if (this.isScheduled) return;
    this.isScheduled = true;
    queueMicrotask(this.drain);
  }

  private readonly drain = (): void => {
    const batch = this.queue;
    this.queue = this.spare;
    this.isScheduled = false;
    const { handler } = this;
    for (let i = 0; i < batch.length; i += 2) {
      const reply = handler(batch[i] as Payload); // Even places hold payloads, odd ones what settles an ask.
      const resolve = batch[i + 1] as ((reply: unknown) => void) | undefined;
      if (resolve !== undefined) resolve(reply);
    }
    batch.length = 0;
    this.spare = batch;
  };
}
