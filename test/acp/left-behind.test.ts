import { expect, spyOn, test } from "bun:test";
import {
  AcpSession,
  AcpTerminals,
  authRequired,
  connectAgent,
  serveAgent,
  sessionOperations,
} from "../../src/acp/index";
import { defineProtocol } from "../../src/index";
import { channelPair } from "../../src/rpc/index";
import { testSystems } from "../actor/test-system";
import { Raw, request } from "../rpc/raw";
import { ABOUT, connectRaw, INITIALIZE } from "./raw-sides";
import type { Scenario } from "./scenario-agent";

// Things that one side made for the other, and that the other left behind.

const { createTestSystem } = testSystems();

test.each([
  [
    "prompt and create",
    { prompt: sessionOperations.prompt, create: sessionOperations.create, close: sessionOperations.close },
    [],
  ],
  ["resume, too", { ...sessionOperations }, ["two", "three"]],
])(
  "P18: sessions that were refused, closed or left are gone, unless one can come back to them: with %s",
  async (_, operations, kept) => {
    const test = createTestSystem();
    const Own = defineProtocol("own", operations);
    const living = new Set<string>();
    test.system.resolve("sessions/", (_prefix, id) =>
      test.system.spawn(id, Own, () => {
        let name = "";
        const create = ({ cwd }: { readonly cwd: string }) => {
          name = cwd.slice(1);
          living.add(name);
          if (name === "one") throw authRequired();
          return {};
        };
        const handlers = Object.keys(operations).map((operation) => [
          operation,
          operation === "create" ? create : () => {},
        ]);
        return { ...Object.fromEntries(handlers), onStop: () => void living.delete(name) };
      }),
    );
    const [here, there] = channelPair();
    // It has some of the same operations.
    serveAgent(test.system, here, {
      ...ABOUT,
      sessions: { prefix: "sessions/", protocol: Own as unknown as typeof Scenario },
    });
    const raw = new Raw(there, test.clock);
    const open = (id: number, cwd: string) => request(id, "session/new", { cwd, mcpServers: [] });
    raw.say(request(1, "initialize", INITIALIZE), open(2, "/one"), open(3, "/two"), open(4, "/three"));
    await test.settle();
    expect([...living]).toEqual(["two", "three"]);
    const opened = raw.take().find(({ id }) => id === 3)?.result as { sessionId: string };
    raw.say(request(5, "session/close", { sessionId: opened.sessionId }));
    await test.settle();
    expect(raw.take()).toMatchObject([{ id: 5, result: {} }]);
    raw.channel.close();
    await test.settle();
    expect([...living]).toEqual(kept);
    test.takeFailures();
  },
);

test("P18: terminals that an agent has left are released with their session, and with the connection", async () => {
  const test = createTestSystem();
  const released: string[] = [];
  const terminals = test.system.spawn("terminals", AcpTerminals, () => ({
    createTerminal: ({ command }) => ({ terminalId: command }),
    terminalOutput: () => ({ output: "", truncated: false }),
    waitForTerminalExit: () => ({ exitCode: 0 }),
    killTerminal: () => ({}),
    releaseTerminal({ terminalId }) {
      released.push(terminalId);
      return {};
    },
  }));
  const { raw, open } = await connectRaw(test, {}, { terminals });
  const session = await open("one");
  await open("two");
  const create = (id: number, sessionId: string, command: string) =>
    request(id, "terminal/create", { sessionId, command });
  raw.say(create(1, "one", "a"), create(2, "one", "b"), create(3, "two", "c"), create(4, "none", "d"));
  await test.settle();
  expect(raw.take().map(({ result, error }) => error?.code ?? result)).toEqual([
    -32_602,
    { terminalId: "a" },
    { terminalId: "b" },
    { terminalId: "c" },
  ]);
  raw.say(request(5, "terminal/release", { sessionId: "one", terminalId: "a" }));
  await test.settle();
  expect([raw.take(), released]).toMatchObject([[{ id: 5, result: {} }], ["a"]]);
  await session.ref.ask("close");
  await test.settle();
  expect(released).toEqual(["a", "b"]);
  raw.channel.close();
  await test.settle();
  expect(released).toEqual(["a", "b", "c"]);
  test.takeFailures();
});

test("a connection whose options cannot be leaves no actor and no program", async () => {
  const test = createTestSystem();
  const spawned = spyOn(Bun, "spawn");
  const options = { ...ABOUT, maxBytes: -1 };
  try {
    await expect(connectAgent(test.system, { command: ["sleep", "60"] }, options)).rejects.toThrow(RangeError);
    await expect(connectAgent(test.system, { command: ["/no/such/agent"] }, ABOUT)).rejects.toThrow("ENOENT");
    const [here] = channelPair();
    expect(() =>
      serveAgent(test.system, here, { ...options, sessions: { prefix: "sessions/", protocol: AcpSession } }),
    ).toThrow(RangeError);
    const child = spawned.mock.results[0]?.value as Bun.Subprocess; // It was started.
    await child.exited;
    expect(child.signalCode).toBe("SIGTERM");
  } finally {
    spawned.mockRestore();
  }
  await test.settle();
  expect(test.system.inspect()).toEqual([]);
});
