import { afterAll } from "bun:test";
import {
  findNatsServer,
  NATS_HINT,
  type NatsOptions,
  type NatsServer,
  startNats,
} from "../../benchmarks/harness/nats-server";

/** False where there is no nats-server: the tests that need one are counted as skipped. */
export const hasNats = (await findNatsServer()) !== undefined;
if (!hasNats) console.warn(`Tests of NATS are skipped, because there is no nats-server: ${NATS_HINT}.`);

/** Starts a server that ends with the tests of the file. */
export async function server(options?: NatsOptions): Promise<NatsServer> {
  const started = await startNats(options);
  afterAll(() => started.close());
  return started;
}
