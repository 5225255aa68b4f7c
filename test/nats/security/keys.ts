import { nkeys } from "@nats-io/transport-node";

type Pair = ReturnType<typeof nkeys.createUser>;

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const base64 = (value: string | Uint8Array): string => Buffer.from(value).toString("base64url");

export const seedOf = (pair: Pair): string => text(pair.getSeed());

/** A claim of NATS about a key, signed by another one. */
function sign(signer: Pair, subject: Pair, name: string, nats: object): string {
  const issuedAt = Math.floor(Date.now() / 1_000);
  const claims = {
    jti: crypto.randomUUID(),
    iat: issuedAt,
    iss: signer.getPublicKey(),
    name,
    sub: subject.getPublicKey(),
    nats,
  };
  const signed = `${base64('{"typ":"JWT","alg":"ed25519-nkey"}')}.${base64(JSON.stringify(claims))}`;
  return `${signed}.${base64(signer.sign(new TextEncoder().encode(signed)))}`;
}

/** The text of a `.creds` file. */
const credsOf = (jwt: string, user: Pair): string =>
  `-----BEGIN NATS USER JWT-----\n${jwt}\n------END NATS USER JWT------\n\n-----BEGIN USER NKEY SEED-----\n${seedOf(user)}\n------END USER NKEY SEED------\n`;

const NO_LIMITS = { subs: -1, data: -1, payload: -1 };
const FREE = { ...NO_LIMITS, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 };

/** An operator with one account that has JetStream: the lines of a server's configuration, and credentials of users. */
export function makeOperator() {
  const [operator, system, shop] = [nkeys.createOperator(), nkeys.createAccount(), nkeys.createAccount()];
  const jwt = sign(operator, operator, "OPERATOR", {
    type: "operator",
    version: 2,
    system_account: system.getPublicKey(),
  });
  const account = (pair: Pair, name: string, jetstream: object) =>
    sign(operator, pair, name, { type: "account", version: 2, limits: { ...FREE, ...jetstream } });
  const jetstream = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 };
  const config = `operator: ${jwt}
resolver: MEMORY
resolver_preload: {
  ${system.getPublicKey()}: ${account(system, "SYS", {})}
  ${shop.getPublicKey()}: ${account(shop, "SHOP", jetstream)}
}`;
  /** The credentials of a user of the account, or of one that another account of the same name has signed. */
  const credentials = (signer: Pair = shop): string => {
    const user = nkeys.createUser();
    return credsOf(sign(signer, user, "node", { type: "user", version: 2, ...NO_LIMITS }), user);
  };
  return { config, credentials, strangers: () => credentials(nkeys.createAccount()) };
}
