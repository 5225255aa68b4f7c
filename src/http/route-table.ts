import type { Route } from "./contract";
import { refuse } from "./problem";

/** The routes of one shape of path, by method. */
interface Shape {
  readonly parts: readonly string[];
  readonly methods: Map<string, Route>;
}

/** A route that fits a request, with the parts of the path that it left open. */
export interface Found {
  readonly route: Route;
  readonly params: readonly string[];
}

/** Finds the route of a request. */
export class RouteTable {
  /** By the number of parts and the first part, which no route leaves open. */
  readonly #shapes = new Map<string, Shape[]>();

  /** @throws Error when a method of a path has a route already. */
  add(route: Route): void {
    const parts = route.path.split("/").slice(1);
    const key = `${parts.length} ${parts[0]}`;
    const shapes = this.#shapes.get(key) ?? [];
    let shape = shapes.find((each) => each.parts.join("/") === parts.join("/"));
    if (shape === undefined) {
      shape = { parts, methods: new Map() };
      shapes.push(shape);
      this.#shapes.set(key, shapes);
    }
    if (shape.methods.has(route.method)) throw new Error(`${route.method} ${route.path} has two routes.`);
    shape.methods.set(route.method, route);
  }

  /** Gives the route of a path, or the refusal: 404, or 405 where the path has other methods. */
  find(method: string, path: string): Found | Response {
    const parts = path.split("/");
    const shapes = this.#shapes.get(`${parts.length - 1} ${parts[1]}`) ?? [];
    for (const shape of shapes) {
      const params: string[] = [];
      const fits = shape.parts.every((part, index) => {
        const given = parts[index + 1] ?? "";
        if (!part.startsWith(":")) return part === given;
        params.push(given);
        return given !== "";
      });
      if (!fits) continue;
      const route = shape.methods.get(method === "HEAD" ? "GET" : method);
      if (route === undefined) {
        const allowed = [...shape.methods.keys()].join(", ");
        return refuse("method-not-allowed", `This path takes ${allowed}, and not ${name(method)}.`, { allow: allowed });
      }
      try {
        return { route, params: params.some(isEncoded) ? params.map(decodeURIComponent) : params };
      } catch {
        return refuse("bad-request", "The path is not well encoded: write bytes as %41.");
      }
    }
    return refuse("not-found", "There is nothing at this path: check the spelling.");
  }
}

const isEncoded = (part: string): boolean => part.includes("%");

/** A method as a sentence can hold it: a stranger may send any text. */
const name = (method: string): string => (/^[A-Z]{1,20}$/.test(method) ? method : "that method");
