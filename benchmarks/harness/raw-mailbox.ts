interface Entry<Payload> {
  readonly payload: Payload;
  readonly resolve: ((reply: unknown) => void) | undefined;
}

/**
 * The *raw* floor: the mailbox that one writes in ten lines. An array, one microtask that drains it, a handler; nothing that
 * envoi promises on top: no supervision, timeout, accounting, fairness, or answer when the handler throws.
 */
export class RawMailbox<Payload> {
  private queue: Entry<Payload>[] = [];
  private isScheduled = false;
  constructor(private readonly handler: (payload: Payload) => unknown) {}

  tell(payload: Payload): void {
    this.push({ payload, resolve: undefined });
  }

  ask(payload: Payload): Promise<unknown> {
    return new Promise((resolve) => this.push({ payload, resolve }));
  }

  private push(entry: Entry<Payload>): void {
    this.queue.push(entry);
    if (this.isScheduled) return;
    this.isScheduled = true;
    queueMicrotask(() => this.drain());
  }

  private drain(): void {
    const batch = this.queue;
    this.queue = [];
    this.isScheduled = false;
    for (const entry of batch) {
      const reply = this.handler(entry.payload);
      entry.resolve?.(reply);
    }
  }
}
