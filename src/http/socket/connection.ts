import type { ServerWebSocket } from "bun";
import type { ClockTimer } from "../../index";
import { type Body, readJson } from "../body";
import type { Caller } from "../contract";
import { AGAIN, Calls } from "./calls";
import { callerOf, withToken } from "./credentials";
import { type ClientFrame, faultOf } from "./frames";
import type { Hub, Visitor } from "./hub";
import { Intake, type Taker } from "./intake";
import { Output } from "./output";

/** Most bytes of what a stranger sends before its caller is known. */
const STRANGE = 16_384;

const UNVERIFIED = "The token could not be verified: try again later.";

/** One socket, from its handshake to its end. */
export class Connection implements Taker {
  readonly #hub: Hub;
  readonly #intake: Intake;
  readonly #onEnd: (code: number) => void;
  #visitor: Visitor;
  /** Gives back its place among the sockets of its owner. */
  #release: () => void;
  #isKnown: boolean;
  #socket: ServerWebSocket<unknown> | null = null;
  #output: Output | null = null;
  /** Null until its caller is known. */
  #calls: Calls | null = null;
  #timer: ClockTimer | null = null;
  /** True while its token is being verified. */
  #isAsking = false;
  #isDraining = false;
  #isEnding = false;
  #isEnded = false;

  /**
   * @param isKnown false when its first frame must say who its caller is.
   * @param onEnd called once, with the code.
   */
  constructor(hub: Hub, visitor: Visitor, isKnown: boolean, release: () => void, onEnd: (code: number) => void) {
    this.#hub = hub;
    this.#visitor = visitor;
    this.#isKnown = isKnown;
    this.#release = release;
    this.#onEnd = onEnd;
    this.#intake = new Intake(this, hub.site.clock, STRANGE);
  }

  /** The handshake is done. */
  open(socket: ServerWebSocket<unknown>): void {
    const { site, unsent, authenticateWithin } = this.#hub;
    this.#socket = socket;
    this.#output = new Output(socket, site.clock, unsent, () => this.end(1008, "Answers wait for you: read faster."));
    if (this.#isKnown) {
      this.#welcome(this.#output);
      return;
    }
    this.#timer = site.clock.setTimer(() => {
      if (this.#isAsking) this.end(1013, UNVERIFIED);
      else this.end(1008, `No token came within ${authenticateWithin} ms: authenticate first.`);
    }, authenticateWithin);
    this.#timer.unref();
  }

  /** A text has come, or bytes. */
  receive(message: unknown): void {
    if (this.#isEnding) return;
    if (typeof message === "string") this.#intake.take(message);
    else this.end(1003, "Frames are texts of JSON: send no bytes.");
  }

  parse(text: string): Body | string {
    return readJson(text, this.#hub.limits);
  }

  take(frame: unknown): void {
    if (this.#isEnding) return;
    this.#hub.onFrame();
    const fault = faultOf(frame);
    if (fault !== undefined) {
      this.end(1007, fault);
      return;
    }
    const known = frame as ClientFrame; // It has no fault.
    if (this.#calls === null) this.#authenticate(known);
    else this.#handle(this.#calls, known);
  }

  #handle(calls: Calls, frame: ClientFrame): void {
    if (frame.kind === "cancel") calls.cancel(frame.id);
    else if (frame.kind === "credit") calls.grant(frame.id, frame.count);
    else if (frame.kind === "ping") this.#output?.say('{"kind":"pong"}');
    else if (frame.kind === "authenticate") {
      if (this.#hub.site.authenticate === undefined) return; // Nobody asked, and a client cannot know that.
      this.end(1008, "The caller of this socket is known: open another one for another caller.");
    } else if (frame.kind !== "tell" && calls.has(frame.id)) {
      this.end(1007, "The id of a message is in use: give each its own.");
    } else calls.take(frame);
  }

  /** The client reads again. */
  drained(): void {
    this.#output?.drained();
    if (this.#output?.isFull === false) this.#calls?.drained();
  }

  /** Takes no new messages, and ends once those under way have. */
  drain(): void {
    this.#isDraining = true;
    this.#calls?.drain();
    if (this.#calls !== null) this.#output?.say('{"kind":"goodbye"}'); // Else it would come before the welcome.
    this.#endIfIdle();
  }

  end(code: number, reason: string): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#output?.flush();
    this.#socket?.close(code, reason);
    this.ended(code);
  }

  /** The socket has ended, in whatever way: gives back all that it holds. */
  ended(code: number): void {
    if (this.#isEnded) return;
    this.#isEnding = this.#isEnded = true;
    this.#timer?.cancel();
    this.#intake.close();
    this.#calls?.close();
    this.#output?.close();
    this.#release();
    this.#onEnd(code);
  }

  #welcome(output: Output): void {
    const { limits } = this.#hub;
    this.#isKnown = true;
    this.#calls = new Calls(this.#hub, this.#visitor, output, () => this.#endIfIdle());
    if (this.#isDraining) this.#calls.drain();
    this.#intake.most = limits.text;
    output.say(JSON.stringify({ kind: "welcome", limits }));
  }

  #authenticate(frame: ClientFrame): void {
    if (frame.kind !== "authenticate") {
      this.end(1008, 'Authenticate first: [{"kind":"authenticate","token":"…"}].');
      return;
    }
    const { site } = this.#hub;
    this.#intake.pause();
    this.#isAsking = true;
    callerOf(site, withToken(this.#visitor.request, frame.token)).then(
      (caller) => this.#admit(caller),
      (cause) => {
        site.log.error("A caller could not be authenticated: its socket is closed.", { cause });
        this.end(1011, "The service failed. Its log says why.");
      },
    );
  }

  #admit(caller: Caller | Response | undefined): void {
    if (this.#isEnding || this.#output === null) return;
    if (caller instanceof Response) {
      this.end(1013, UNVERIFIED);
      return;
    }
    if (caller === undefined) {
      this.end(1008, "The token names no caller who is let in.");
      return;
    }
    const release = this.#hub.site.enter({ caller, owner: caller.id }, "sockets");
    if (release instanceof Response) {
      if (this.#isDraining) this.end(1012, AGAIN);
      else this.end(1013, "This caller has the most sockets: close one of them first.");
      return;
    }
    this.#release();
    this.#release = release;
    this.#timer?.cancel();
    this.#visitor = { request: this.#visitor.request, caller, owner: caller.id };
    this.#welcome(this.#output);
    this.#intake.resume();
  }

  #endIfIdle(): void {
    if (!this.#isDraining || this.#isEnding) return;
    // A message is under way until its answer has been handed over.
    this.#hub.site.clock.macrotask(() => {
      if ((this.#calls?.size ?? 0) === 0 && this.#intake.isEmpty) this.end(1012, AGAIN);
    });
  }
}
