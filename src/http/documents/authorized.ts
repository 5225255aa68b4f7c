import type { Handle, Site, Visit } from "../contract";

/** Answers those who may read a page of the gateway itself, such as `/metrics`. */
export const authorized =
  (site: Site, page: string, answer: (visit: Visit) => Response): Handle =>
  (visit) => {
    const refusal = site.authorize(visit, page, "read");
    if (refusal instanceof Promise) return refusal.then((refused) => refused ?? answer(visit));
    return refusal ?? answer(visit);
  };
