import { connect, createServer, type Server, type Socket } from "node:net";

/** A proxy that cuts connections. */
export interface CuttingProxy {
  readonly url: string;
  /** The connections so far. */
  readonly connections: number;
  /** Most bytes that went through one connection, in the direction that is cut. */
  readonly longest: number;
  /** Lets nothing through any more by the connections that are open, and tells nobody: a network that is gone. */
  hold(): void;
  close(): void;
}

/**
 * Makes a proxy that cuts a connection once so many bytes of its response went through.
 *
 * @param bytes of the connection with this number, which counts from 0; infinite for a connection that stays.
 * @param counted `"requests"` to count the bytes of the client instead.
 */
export async function cuttingProxy(
  target: URL,
  bytes: (connection: number) => number,
  counted: "responses" | "requests" = "responses",
): Promise<CuttingProxy> {
  const open = new Set<Socket>();
  let connections = 0;
  let longest = 0;
  let held = 0;
  const server: Server = createServer((client) => {
    const most = bytes(connections++);
    const number = connections;
    let sent = 0;
    const service = connect(Number(target.port), target.hostname);
    const end = (): void => {
      client.destroy();
      service.destroy();
      open.delete(client);
      open.delete(service);
    };
    for (const socket of [client, service]) {
      open.add(socket);
      socket.on("error", end);
      socket.on("close", end);
    }
    const [cut, plain] = counted === "responses" ? [service, client] : [client, service];
    plain.on("data", (data) => number > held && cut.write(data));
    cut.on("data", (data: Buffer) => {
      if (number <= held) return;
      const part = data.subarray(0, Math.max(most - sent, 0));
      sent += part.length;
      longest = Math.max(longest, sent);
      if (sent < most) plain.write(part);
      else if (part.length === 0) end();
      else plain.write(part, () => setTimeout(end, 2)); // Else the client's stream would drop what it has not read yet.
    });
    if (most === 0) end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("The proxy has no port.");
  return {
    url: `http://127.0.0.1:${address.port}`,
    get connections() {
      return connections;
    },
    get longest() {
      return longest;
    },
    hold() {
      held = connections;
    },
    close() {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}
