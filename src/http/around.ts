import type { Route } from "./contract";

/** A request on its way. */
export interface Exchange {
  readonly request: Request;
  /** The path of its route, such as `/sessions/:id`; undefined until its answer is there, and for a path that no route has. */
  readonly route: string | undefined;
}

/**
 * Wraps a request: it calls `answer` once, and gives its response. What is sent for the request is sent in the context (`AsyncLocalStorage`) that
 * it enters. An error that it throws is answered with status 500.
 */
export type AroundRequest = (exchange: Exchange, answer: () => Promise<Response>) => Promise<Response>;

/** Answers a request inside of the owner's wrapper. */
export const inside = async (
  around: AroundRequest,
  visit: { readonly request: Request; readonly route: Route | undefined },
  answer: () => Promise<Response>,
): Promise<Response> =>
  around(
    {
      request: visit.request,
      get route() {
        return visit.route?.path;
      },
    },
    answer,
  );
