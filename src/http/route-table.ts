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

/** Most paths that are remembered, and most characters of one: strangers can send any number of them. */
const RECENT = 1_000;
const LONGEST = 200;

/** Finds the route of a request. */
export class RouteTable {
  /** By the number of parts and the first part, which no route leaves open. */
  readonly #shapes = new Map<string, Shape[]>();
  /** Paths that need not be taken apart any more. */
  readonly #known = new Map<string, Place>();
  /** Paths that were found last, the oldest first, such as those of sessions: to take one apart took 1 µs of a request. */
  readonly #recent = new Map<string, Place>();

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
    return this.#known.get(path) ?? this.#recent.get(path) ?? this.#remember(path, this.#find(path));
  }

  #remember(path: string, place: Place | Response): Place | Response {
    if (place instanceof Response || path.length > LONGEST) return place;
    const [oldest] = this.#recent.size < RECENT ? [] : this.#recent.keys();
    if (oldest !== undefined) this.#recent.delete(oldest);
    this.#recent.set(path, place);
    return place;
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
      const params = paramsIn(parts, wanted);
      if (params !== null) return { methods, allow, params };
    }
    return refuse("not-found", "There is nothing at this path: check its spelling.");
  }
}

/** The parts of a path, which follow an empty one, that a shape leaves open; null for a path of another shape. */
function paramsIn(parts: readonly string[], wanted: readonly string[]): readonly string[] | null {
  const params: string[] = [];
  let index = 1;
  for (const each of wanted) {
    const part = parts[index++] ?? "";
    if (!isOpen(each)) {
      if (part !== each) return null;
    } else if (part === "") return null;
    else params.push(part);
  }
  return params;
}

/** The header `allow`. */
const allowOf = (methods: ReadonlyMap<string, Route>): string =>
  [...methods.keys(), ...(methods.has("GET") ? ["HEAD"] : []), "OPTIONS"].join(", ");

const isOpen = (part: string): boolean => part.startsWith(":");
const opened = (parts: readonly string[]): number => parts.filter(isOpen).length;
const patternOf = (parts: readonly string[]): string => parts.map((part) => (isOpen(part) ? ":" : part)).join("/");

/** The response to a HEAD: that of a GET, without its body. */
export async function withoutBody(answer: Response | Promise<Response>): Promise<Response> {
  const { status, headers, body } = await answer;
  await body?.cancel();
  return new Response(null, { status, headers });
}
