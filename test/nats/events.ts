import type { PublishedEvent, System } from "../../src";

/** The next event of the wing, of a kind, that fits. */
export const event = (
  system: System,
  kind: string,
  fits: (detail: Record<string, unknown>) => boolean = () => true,
): Promise<PublishedEvent> =>
  new Promise((resolve) => {
    const end = system.events.subscribe((each) => {
      if (each.kind !== `nats:${kind}`) return;
      const published = each as PublishedEvent; // Its kind has a colon.
      if (!fits(published.detail as Record<string, unknown>)) return; // The wing's have one.
      end();
      resolve(published);
    });
  });
