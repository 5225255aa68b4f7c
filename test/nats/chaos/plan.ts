import type { SeededRandom } from "../../../src/testing";
import type { Way } from "../faults/proxy";
import { type Chaos, NODES, type NodeName, type Servers } from "./chaos";

/** What is done to a node, to a server, or to the link of the node behind the proxies. */
type NodeTrouble = "kill" | "stop" | "restart" | "crash";
type ServerTrouble = "kill leader" | "stop leader" | "kill" | "stop";
type LinkTrouble = "cut" | "delay" | "hole up" | "hole down";

/** Troubles at the same time. */
export interface Round {
  readonly server?: ServerTrouble;
  /** The number of the server where it need not lead. */
  readonly which: number;
  readonly nodes: readonly { readonly node: NodeName; readonly trouble: NodeTrouble }[];
  readonly link?: LinkTrouble;
}

/** The rounds of a seed: each server trouble, node trouble and link trouble comes about as often as any other. */
export function planOf(random: SeededRandom, rounds: number): readonly Round[] {
  return Array.from({ length: rounds }, (_, number): Round => {
    const link = random.pick<LinkTrouble>(["cut", "delay", "hole up", "hole down"]);
    // One node at least goes on: the one behind the proxies has a trouble already.
    const node = random.pick(NODES.slice(0, 2));
    const trouble = random.pick<NodeTrouble>(
      number === 0 ? ["kill", "stop", "restart", "crash"] : ["kill", "stop", "restart"],
    );
    const server = random.pick<ServerTrouble>(["kill leader", "stop leader", "kill", "stop"]);
    const which = random.below(3);
    return {
      which,
      nodes: [{ node, trouble }],
      ...(random.chance(0.8) && { server }),
      ...(random.chance(0.7) && { link }),
    };
  });
}

/** Does what a round says, and resolves once all goes on as before. */
export async function play(chaos: Chaos, { servers }: Servers, round: Round): Promise<void> {
  const { server: trouble } = round;
  const server = trouble?.endsWith("leader") ? await chaos.leader() : servers[round.which];
  if (server === undefined) throw new Error("There are three servers.");
  const isKilled = trouble?.startsWith("kill");
  if (trouble !== undefined) {
    if (isKilled) await server.kill();
    else server.pause();
  }
  try {
    await Promise.all([
      ...round.nodes.map(({ node, trouble }) => troubleNode(chaos, node, trouble)),
      ...(round.link === undefined ? [] : [troubleLink(chaos, round.link)]),
    ]);
    await chaos.progress();
  } finally {
    if (trouble !== undefined) {
      if (isKilled) await server.restart();
      else server.resume();
    }
  }
  await Promise.all(NODES.map((node) => chaos.isMember(node, true)));
  await chaos.progress();
}

async function troubleNode(chaos: Chaos, node: NodeName, trouble: NodeTrouble): Promise<void> {
  if (trouble === "crash") {
    const crashed = await chaos.crash();
    await chaos.run(crashed);
  } else if (trouble === "kill") {
    await chaos.kill(node);
    await chaos.isMember(node, false);
    await chaos.run(node);
  } else if (trouble === "restart") {
    await chaos.end(node);
    await chaos.run(node);
  } else {
    chaos.signal(node, "SIGSTOP");
    await chaos.isMember(node, false);
    await chaos.progress();
    chaos.signal(node, "SIGCONT");
    await chaos.isMember(node, true);
  }
}

async function troubleLink(chaos: Chaos, trouble: LinkTrouble): Promise<void> {
  const { proxies } = chaos;
  if (trouble === "cut") {
    for (const proxy of proxies) proxy.cut();
    return;
  }
  if (trouble === "delay") {
    for (const proxy of proxies) for (const way of ["up", "down"] as const) proxy.delay(way, 100);
    await chaos.progress();
    for (const proxy of proxies) for (const way of ["up", "down"] as const) proxy.delay(way, 0);
    return;
  }
  const way: Way = trouble === "hole up" ? "up" : "down";
  chaos.swallow(way, true);
  await chaos.isMember("c", false);
  chaos.swallow(way, false);
  await chaos.isMember("c", true);
}
