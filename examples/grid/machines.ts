import { defineProtocol, type System, Type } from "envoi";

/** The node that has the store. */
export const NODE_OF_STORE = "main";
/** The message by which a machine is asked to leave. */
export const TO_LEAVE = "leave";
/** The name under which the pages of a lane are stored. Each lane has one page under way, and so there are several. */
export const laneOf = (lane: number): string => `lane-${lane + 1}`;

/** What a machine is told at its start. */
export interface MachineOptions {
  readonly servers: string;
  readonly cluster: string;
  readonly node: string;
  readonly lanes: number;
  readonly workers: number;
  readonly threads: boolean;
}

/** What a machine says. */
export type FromMachine = { readonly kind: "ready" } | { readonly kind: "say"; readonly line: string };

/** Milliseconds for a machine to leave; one that takes longer is killed. */
const LEAVE_WITHIN = 4_000;

/** Holds a machine. It fails when the machine is gone, so that its supervisor starts it again. */
const Keeper = defineProtocol("machine", { lost: { payload: Type.String() } });

/** One machine, over all its starts: a process that leads a group, so that its workers die with it. It leaves at the shutdown of the system. */
export class Machine {
  readonly node: string;
  /** Resolves when it was ready for the first time. */
  readonly ready = Promise.withResolvers<void>();
  #pid: number | undefined;

  constructor(system: System, program: URL, options: MachineOptions, say: (line: string) => void) {
    this.node = options.node;
    const supervision = { backoff: { initial: 10, max: 500 }, beyondLimit: "hold" as const };
    system.spawn(
      `machines/${options.node}`,
      Keeper,
      ({ self }) => {
        let isLeaving = false;
        const child = Bun.spawn([process.execPath, program.pathname, JSON.stringify(options)], {
          stdio: ["ignore", "inherit", "inherit"],
          detached: true, // A group of its own: Ctrl-C in the terminal does not reach it.
          ipc: (message: FromMachine) => {
            if (message.kind === "say") say(message.line);
            else this.ready.resolve();
          },
          onExit: () => {
            this.#pid = undefined;
            if (!isLeaving) self.tell("lost", options.node);
          },
        });
        this.#pid = child.pid;
        return {
          lost(node) {
            throw new Error(`${node} has gone`);
          },
          onStop: async () => {
            isLeaving = true;
            if (child.exitCode !== null || child.signalCode !== null) return;
            child.send(TO_LEAVE);
            const timer = setTimeout(() => this.kill(), LEAVE_WITHIN);
            await child.exited;
            clearTimeout(timer);
          },
        };
      },
      { supervision },
    );
  }

  /** Ends it and its workers by kill -9. False where it does not run. */
  kill(): boolean {
    if (this.#pid === undefined) return false;
    process.kill(-this.#pid, "SIGKILL"); // The whole group.
    return true;
  }
}
