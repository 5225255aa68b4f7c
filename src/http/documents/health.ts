import type { Part, RouteDescription, Site } from "../contract";
import { refuse } from "../problem";

/** The probes of health. */
export interface HealthOptions {
  /**
   * Says whether the service can work, such as whether its database answers. False, a rejection, or no answer in time make it not ready.
   * However often a probe comes, it is called once in a second at most. The signal is aborted when the time is over. Default: always
   * ready.
   */
  readonly ready?: (signal: AbortSignal) => boolean | Promise<boolean>;
  /** Milliseconds that `ready` may take. Default: 1,000. */
  readonly timeout?: number;
}

/** Milliseconds for which an answer of `ready` holds. */
const FRESH = 1_000;
const TIMEOUT = 1_000;

/**
 * `GET /health/live` says that the process answers, `GET /health/ready` whether it should get requests, and `GET /health` both. Everybody
 * may ask, as probes have no credentials.
 */
export function healthPart(site: Site, { ready, timeout = TIMEOUT }: HealthOptions): Part {
  const check = ready && new Check(site, ready, timeout);

  async function whyNot(): Promise<string | undefined> {
    if (site.isDraining) return "The service is shutting down: send requests elsewhere.";
    const actors = [...site.exposure.values()];
    if (actors.length > 0 && actors.every(({ door }) => door.isStopped))
      return "The actors of the service have stopped.";
    return check === undefined || (await check.passes()) ? undefined : "The service cannot work now: try again later.";
  }

  async function answerReady(): Promise<Response> {
    const reason = await whyNot();
    return reason === undefined ? pass() : refuse("unavailable", reason, { "cache-control": "no-store" });
  }

  return {
    routes: [
      {
        method: "GET",
        path: "/health/live",
        isOpen: true,
        handle: pass,
        description: describe("Whether the process answers"),
      },
      {
        method: "GET",
        path: "/health/ready",
        isOpen: true,
        handle: answerReady,
        description: { ...describe("Whether the service should get requests"), statuses: [503] },
      },
      {
        method: "GET",
        path: "/health",
        isOpen: true,
        handle: answerReady,
        description: { ...describe("Whether the service is live and ready"), statuses: [503] },
      },
    ],
    close: () => check?.end(),
  };
}

const describe = (summary: string): RouteDescription => ({
  summary,
  answer: {
    type: "application/json",
    schema: { type: "object", required: ["status"], properties: { status: { type: "string", const: "pass" } } },
  },
});

const pass = (): Response => Response.json({ status: "pass" }, { headers: { "cache-control": "no-store" } });

/** Asks the owner, at most once in a while, whoever asks how often. */
class Check {
  readonly #site: Site;
  readonly #ready: NonNullable<HealthOptions["ready"]>;
  readonly #timeout: number;
  #running: Promise<boolean> | undefined;
  #controller: AbortController | undefined;
  #last: { readonly passed: boolean; readonly until: number } | undefined;

  constructor(site: Site, ready: NonNullable<HealthOptions["ready"]>, timeout: number) {
    this.#site = site;
    this.#ready = ready;
    this.#timeout = timeout;
  }

  passes(): boolean | Promise<boolean> {
    const last = this.#last;
    if (last !== undefined && this.#site.clock.monotonicTime() < last.until) return last.passed;
    this.#running ??= this.#run().then((passed) => {
      this.#last = { passed, until: this.#site.clock.monotonicTime() + FRESH };
      this.#running = undefined;
      return passed;
    });
    return this.#running;
  }

  /** False once the time is over; a later answer counts for nothing. */
  #run(): Promise<boolean> {
    const controller = new AbortController();
    this.#controller = controller;
    return new Promise((resolve) => {
      const timer = this.#site.clock.setTimer(() => {
        resolve(false);
        controller.abort(new Error(`ready did not answer within ${this.#timeout} ms`));
      }, this.#timeout);
      const settle = (passed: boolean): void => {
        timer.cancel();
        resolve(passed);
      };
      Promise.try(this.#ready, controller.signal).then(
        (passed) => settle(passed === true),
        (thrown) => {
          this.#site.log.error("ready, which says whether the service can work, threw.", { cause: thrown });
          settle(false);
        },
      );
    });
  }

  end(): void {
    this.#controller?.abort(new Error("the gateway was closed"));
  }
}
