import { type ClientError, ClientStreamError } from "../../../src/http/client/index";

/** The error that a loop over a stream throws. */
export async function errorOf(stream: AsyncIterable<unknown>): Promise<ClientError> {
  try {
    for await (const _ of stream);
  } catch (thrown) {
    if (thrown instanceof ClientStreamError) return thrown.error;
    throw thrown;
  }
  throw new Error("The stream came to its end.");
}
