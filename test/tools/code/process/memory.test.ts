import { expect, test } from "bun:test";
import { systemClock } from "../../../../src/index";
import { ProcessPool } from "../../../../src/tools/code/pool/process-pool";
import { runOf } from "../sandbox/kit";
import { isOffered, WORKER } from "./kit";

const MB = 1024 * 1024;

test.if(isOffered)(
  "Process: memory has a bound from within, too, for what comes between two looks of the host",
  async () => {
    const pool = new ProcessPool({
      size: 1,
      maxWaiting: 9,
      clock: systemClock,
      isolation: "process",
      remedy: "",
      program: WORKER,
    });
    for (const body of [
      "const a = []; for (let i = 0; i < 2_500; i++) a.push(new Uint8Array(1e6).fill(1)); return a.length",
      "return new ArrayBuffer(2e9).byteLength",
      "const a = []; try { for (let i = 0; i < 40; i++) a.push(new WebAssembly.Memory({ initial: 16_000 })) } catch {} ; throw new RangeError(a.length < 40 ? 'Out of memory' : 'no bound')",
    ]) {
      const ended = await pool.run(runOf(body, { memory: 64 * MB }));
      // The engine tells, or breaks off.
      expect([body, ["out-of-memory", "crashed"].includes(ended.kind)]).toEqual([body, true]);
    }
    await pool.dispose();
  },
);
