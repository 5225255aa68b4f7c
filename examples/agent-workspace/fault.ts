/** What keeps a planner from planning; thrown, so that its supervisor decides. */
export class PlannerFault extends Error {
  override readonly name = "PlannerFault";

  /** @param mayPass whether the same request may go well a little later. */
  constructor(
    message: string,
    readonly mayPass: boolean,
  ) {
    super(message);
  }
}
