import type { Endpoint, Route, RouteDescription, Site } from "../contract";

/** All exposed operations. */
export const endpointsOf = ({ exposure }: Pick<Site, "exposure">): readonly Endpoint[] =>
  [...exposure.values()].flatMap(({ endpoints }) => [...endpoints.values()]);

/** The path of an operation, below the base path. */
export const pathOf = ({ actor, operation }: Endpoint): string =>
  `/actors/${actor.name}/${encodeURIComponent(operation.name)}`;

/** The methods that an operation is called with. */
export const methodsOf = ({ operation }: Endpoint): readonly ("GET" | "POST")[] =>
  operation.hints?.readOnly === true ? ["GET", "POST"] : ["POST"];

/** The routes that documents list beside those of operations. */
export const listedRoutes = ({ routes }: Site): readonly (Route & { readonly description: RouteDescription })[] =>
  routes.flatMap((route) => (route.description === undefined ? [] : [{ ...route, description: route.description }]));
