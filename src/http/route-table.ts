import type { Route } from "./contract";
import { refuse } from "./problem";

/** The routes of one shape of path, by method. */
interface Shape {
  readonly parts: readonly string[];
  readonly methods: Map<string, Route>;
  /** Those that a client may use, as the header `allow` has them. */
  allow: string;
}

/** The shape that a path has, and the decoded parts that it leaves open. */
export interface Place {
  readonly methods: ReadonlyMap<string, Route>;
  readonly allow: string;
  readonly params: readonly string[];
}

/** Finds the route of a request. */
export class RouteTable {
  /** By the number of parts and the first part, which no route leaves open. */
  readonly #shapes = new Map<string, Shape[]>();
  /** Paths that need not be taken apart any more. */
  readonly #known = new Map<string, Place>();

  /** @throws Error when a method of a path has a route already. */
  add(route: Route): void {
    const parts = route.path.split("/").slice(1);
    const key = `${parts.length} ${parts[0]}`;
    const shapes = this.#shapes.get(key) ?? [];
    const pattern = patternOf(parts);
    let shape = shapes.find((each) => patternOf(each.parts) === pattern);
    if (shape === undefined) {
      shape = { parts, methods: new Map(), allow: "" };
      // A path that is written out goes before one that leaves the same part open.
      this.#shapes.set(
        key,
        [...shapes, shape].sort((a, b) => opened(a.parts) - opened(b.parts)),
      );
    }
    if (shape.methods.has(route.method)) throw new Error(`${route.method} ${route.path} has two routes.`);
    shape.methods.set(route.method, route);
    shape.allow = allowOf(shape.methods);
  }

  /**
   * Keeps the place of a path that many requests will have: those of the exposed operations, which their owner listed.
   *
   * @param only the methods that it has, where it has fewer than its route.
   */
  keep(path: string, only?: readonly string[]): void {
    const place = this.#find(path);
    if (place instanceof Response) return;
    const methods = new Map([...place.methods].filter(([method]) => only?.includes(method) ?? true));
    this.#known.set(path, { methods, allow: allowOf(methods), params: place.params });
  }

  /** Gives the place of a path, or the refusal. */
  find(path: string): Place | Response {
    return this.#known.get(path) ?? this.#find(path);
  }

  #find(path: string): Place | Response {
    const parts = path.split("/");
    if (path.includes("%")) {
      try {
        for (const [index, part] of parts.entries()) parts[index] = decodeURIComponent(part);
      } catch {
        return refuse("bad-request", "The path is not well encoded: write the bytes of UTF-8 as %C3%A9.");
      }
    }
    for (const { parts: wanted, methods, allow } of this.#shapes.get(`${parts.length - 1} ${parts[1]}`) ?? []) {
      const isFit = wanted.every((part, index) => (isOpen(part) ? parts[index + 1] !== "" : part === parts[index + 1]));
      if (!isFit) continue;
      const params = parts.slice(1).filter((_, index) => isOpen(wanted[index] ?? ""));
      return { methods, allow, params };
    }
    return refuse("not-found", "There is nothing at this path: check its spelling.");
  }
}

/** The header `allow`. */
const allowOf = (methods: ReadonlyMap<string, Route>): string =>
  [...methods.keys(), ...(methods.has("GET") ? ["HEAD"] : []), "OPTIONS"].join(", ");

const isOpen = (part: string): boolean => part.startsWith(":");
const opened = (parts: readonly string[]): number => parts.filter(isOpen).length;
const patternOf = (parts: readonly string[]): string => parts.map((part) => (isOpen(part) ? ":" : part)).join("/");
