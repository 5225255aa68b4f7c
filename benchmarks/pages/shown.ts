import type { FigureName } from "../harness/target";
import { targets } from "../targets";
import { actorsShare } from "../targets/ratios";
import type { PublishedTarget } from "./published";

const figure = (suite: string, row: string, name: string): FigureName => ({ suite, row, figure: name });

/** The rows of the README: one of each kind. */
export const inReadme: readonly FigureName[] = [
  figure("message-creation", "createMessage (tell)", "ratio"),
  figure("routing", "ref.tell of two operations in turn, 100,000 to completion", "ratio"),
  figure("routing", "ref.tell, 100,000 to completion", "ratio"),
  figure("routing", "ref.ask in sequence, sync handler, default timeout", "ratio"),
  figure("routing", "router.ask(createMessage(…)) in sequence", "ratio"),
  figure("patterns", "spawn and stop, both confirmed", "ratio"),
  figure("patterns", "5 ms timer while two actors volley for 200 ms", "ticks"),
  figure("streams", "stream, an item, credit 16", "ratio"),
  figure("flow", "topic: an item to 1,000 subscribers, each", "ratio"),
  figure("survival", "restart: an ask that fails, its actor made anew", "ratio"),
  figure("memory", "heap of an idle actor", "bytes"),
  figure("files", "read 100 B", "ratio"),
  figure("latency", "execution, sandbox", "p95"),
  figure("startup", 'import "envoi", to the first reply', "over bare Bun"),
];

const nameOf = ({ suite, row, figure: name }: FigureName): FigureName => figure(suite, row, name);

/** The end of its interval that tells whether a slope is a leak. */
const isSlope = ({ suite, figure: name }: FigureName): boolean => suite === "memory" && name.endsWith("slope, least");

/** The figures that show whether a published target is met. */
export const published: readonly PublishedTarget[] = [
  { target: "createMessage p95", about: "a message is made", shownBy: [figure("latency", "createMessage", "p95")] },
  {
    target: "routing p95",
    about: "an ask through the router and its reply",
    shownBy: [figure("latency", "router.ask(createMessage(…)), a round trip", "p95")],
  },
  {
    target: "throughput per second",
    about: "messages a second, sustained",
    shownBy: [figure("latency", "sustained for 2 s: router.tell(createMessage(…))", "rate")],
  },
  {
    target: "files p95",
    about: "a file is read or written, through the router",
    shownBy: [figure("latency", "read of 100 B", "p95"), figure("latency", "write of 100 B", "p95")],
  },
  {
    target: "code p95",
    about: "code is run in the default tier",
    shownBy: [figure("latency", "execution, sandbox", "p95")],
  },
  {
    target: "tool overhead",
    about: "the actors' share of the time of a run of code",
    shownBy: actorsShare.map(nameOf),
  },
  {
    target: "concurrent operations",
    about: "operations at once, until all are done",
    shownBy: [figure("latency", "100 asks at once, until all have replied", "p95")],
  },
  {
    target: "heap growth",
    about: "bytes that a message or an actor leaves behind, the lower end of the slope's interval",
    shownBy: targets.filter(isSlope).map(nameOf),
  },
];
