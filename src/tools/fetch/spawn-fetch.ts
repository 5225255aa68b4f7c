import type { Spawner } from "../../index";
import { loadFetchActor } from "../late";
import { type FetchOptions, limitsOf } from "./options";
import { Fetch, type FetchRef } from "./protocol";

/**
 * Spawns an actor that sends HTTP requests to the URLs that its owner allows, and to no others: a tool for code and for agents.
 * Each redirect is held to the same rules. A host is connected to at the address that was checked, and addresses that are not
 * on the public internet are refused, unless a rule names them. Cookies are neither kept nor sent, and no proxy is used.
 *
 * @param spawner a system, or the context of the parent actor.
 * @throws TypeError or RangeError for an invalid option; Error if the name is in use.
 * @example
 * const web = spawnFetch(system, { allow: ["https://api.example.com/*"] });
 * const page = resultOf(await web.ask("get", { url: "https://api.example.com/items" }, { timeout: 30_000 }));
 * if (page.isOk()) console.log(page.value.status, page.value.content);
 */
export function spawnFetch(spawner: Spawner, options: FetchOptions = {}): FetchRef {
  const limits = limitsOf(options);
  const { name = "fetch", supervision, phase, capacity, overflow } = options;
  const { factoryOf } = loadFetchActor();
  return spawner.spawn(name, Fetch, factoryOf(limits), {
    concurrency: limits.concurrency,
    validate: "always", // Even from within the process, a request may have been made up by an agent.
    ...(supervision && { supervision }),
    ...(phase !== undefined && { phase }),
    ...(capacity !== undefined && { capacity }),
    ...(overflow !== undefined && { overflow }),
  });
}
