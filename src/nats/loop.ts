import type { Address, AnyRef } from "../index";
import { createLink, type Link } from "../link/index";
import type { Connection } from "./connection";

/** A link of this node to itself. */
export function loopOf({ system, cluster, node }: Connection, exposed: (at: Address) => AnyRef | undefined): Link {
  const metadata = { "envoi.node": node };
  const there: Link = createLink({
    system,
    prefix: `${cluster}/loop/`,
    send: (text) => here.take(text),
    exposed,
    metadata,
  });
  const here: Link = createLink({
    system,
    prefix: `${cluster}/node/${node}/`,
    send: (text) => there.take(text),
    exposed,
    metadata,
  });
  return here;
}
