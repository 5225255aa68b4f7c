import { type Context, type Factory, type SignaturesOf, type TraceContext, traceOf } from "../../index";
import type { ToolReply } from "../reply";
import { Addresses } from "./addresses";
import { contentOf, contents, readAll, tooLarge } from "./body";
import { Errand } from "./errand";
import { refusalOf } from "./exchange";
import { errorOf, type FetchError, FetchRefusal } from "./fetch-error";
import { type Answer, open, type Wish } from "./fetcher";
import { shownHeaders } from "./headers";
import type { Limits } from "./options";
import {
  type Fetch,
  type FetchGetRequest,
  type FetchItem,
  type FetchReply,
  type FetchStreamRequest,
  FetchStreams,
} from "./protocol";
import { urlText } from "./target";

type Turn = Pick<Context<unknown>, "signal" | "clock" | "handsOn">;

/** Makes the handlers of a fetch actor. */
export function factoryOf(limits: Limits): Factory<SignaturesOf<typeof Fetch>> {
  return (ctx) => {
    const addresses = new Addresses(limits.resolve);
    // Streams last as long as their readers. An actor of their own keeps them from holding up the requests.
    const { concurrency } = limits;
    const streams = ctx.spawn(
      "streams",
      FetchStreams,
      (own) => ({ requestStream: (request) => pieces(request, own, begun(own), limits, addresses) }),
      { concurrency },
    );
    return {
      get: (request) => whole(request, ctx, limits, addresses),
      request: (request) => whole(request, ctx, limits, addresses),
      requestStream: () => ctx.forward(streams),
    };
  };
}

type Whole = Wish & Pick<FetchGetRequest, "encoding" | "maxBytes">;

async function whole(
  wish: Whole,
  { signal, clock, handsOn }: Turn,
  limits: Limits,
  addresses: Addresses,
): Promise<ToolReply<FetchReply, FetchError>> {
  const errand = new Errand(clock, limits.timeout, signal);
  try {
    const most = Math.min(wish.maxBytes ?? limits.maxReplyBytes, limits.maxReplyBytes);
    const mayCut = wish.maxBytes !== undefined;
    const answer = await open(wish, most, limits, addresses, errand, traceOf(handsOn));
    const { response, body } = answer;
    if (!mayCut && body !== null && announced(response) > most) tooLarge(most);
    const { bytes, isCut } = await readAll(body, most, mayCut);
    const about = { ...headOf(answer), ...(isCut && { isCut }) };
    const { encoding = "utf8" } = wish;
    if (encoding === "bytes") return { ok: true, value: { ...about, encoding, content: new Uint8Array(bytes) } };
    return { ok: true, value: { ...about, encoding, content: contentOf(bytes, encoding, response.headers, isCut) } };
  } catch (thrown) {
    return refused(thrown, wish, errand);
  } finally {
    errand.end();
  }
}

/** The parts that the handler of a stream must read itself: a generator's body runs after its handler has returned. */
interface Begun {
  readonly signal: AbortSignal;
  readonly trace: TraceContext | undefined;
}

const begun = ({ signal, handsOn }: Turn): Begun => ({ signal, trace: traceOf(handsOn) });

async function* pieces(
  wish: FetchStreamRequest,
  { clock }: Pick<Turn, "clock">,
  { signal, trace }: Begun,
  limits: Limits,
  addresses: Addresses,
): AsyncGenerator<ToolReply<FetchItem, FetchError>> {
  const errand = new Errand(clock, limits.streamTimeout, signal);
  const most = limits.maxStreamBytes;
  try {
    const answer = await open(wish, most, limits, addresses, errand, trace);
    yield { ok: true, value: { kind: "head", ...headOf(answer) } };
    const { encoding = "utf8" } = wish;
    for await (const content of contents(answer.body, most, encoding, answer.response.headers)) {
      yield { ok: true, value: { kind: "content", content } };
    }
  } catch (thrown) {
    yield refused(thrown, wish, errand);
  } finally {
    errand.end();
  }
}

const headOf = ({ target, response }: Answer) => ({
  url: urlText(target),
  status: response.status,
  headers: shownHeaders(response.headers),
});

/** The size of the body as the server announces it; 0 if it does not, or if the body is compressed. */
const announced = ({ headers }: Response): number =>
  headers.has("content-encoding") ? 0 : Number(headers.get("content-length") ?? 0);

/** The reply for a thrown refusal or an error of the connection. Any other error fails the handler. */
function refused(thrown: unknown, wish: Wish, errand: Errand): { readonly ok: false; readonly error: FetchError } {
  const known = errand.overBy() ?? refusalOf(thrown, hostIn(wish.url));
  if (known instanceof FetchRefusal) return { ok: false, error: errorOf(known, wish.url) };
  throw known;
}

const hostIn = (url: string): string => (URL.canParse(url) ? new URL(url).hostname : "");
