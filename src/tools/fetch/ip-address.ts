/** A block of addresses: those that share its first bits. A single address is a block of all its bits. */
export interface Block {
  readonly bytes: Uint8Array;
  readonly bits: number;
}

const OCTET = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
const IPV4 = new RegExp(`^${OCTET}(?:\\.${OCTET}){3}$`);
/** The letters of an IPv6 address. A zone (`%eth0`) is refused: it names an interface of this machine. */
const IPV6 = /^[\da-f.]*:[\da-f:.]{1,44}$/i;

/**
 * The 4 or 16 bytes of an address; null for any other text. IPv4 is taken in its plain form only: four decimal numbers
 * without leading zeros. A URL writes the odd forms (octal, hexadecimal, one number) as that one.
 */
export function bytesOf(text: string): Uint8Array | null {
  if (IPV4.test(text)) return Uint8Array.from(text.split("."), Number);
  if (!IPV6.test(text) || !URL.canParse(`http://[${text}]/`)) return null;
  const [head = "", tail] = new URL(`http://[${text}]/`).hostname.slice(1, -1).split("::");
  const before = groupsOf(head);
  const after = groupsOf(tail ?? "");
  const zeros = Array<number>(8 - before.length - after.length).fill(0);
  return Uint8Array.from([...before, ...zeros, ...after].flatMap((group) => [group >> 8, group & 255]));
}

const groupsOf = (part: string): number[] =>
  part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16));

/** Reads an address or a block, such as `10.1.2.3` or `10.0.0.0/8`; null for any other text. */
export function blockOf(text: string): Block | null {
  const [address = "", size, ...rest] = text.split("/");
  const bytes = bytesOf(address);
  if (bytes === null || rest.length > 0) return null;
  const most = bytes.length * 8;
  if (size === undefined) return { bytes, bits: most };
  return /^\d{1,3}$/.test(size) && Number(size) <= most ? { bytes, bits: Number(size) } : null;
}

/** True when the address is in the block. No IPv4 address is in a block of IPv6, not even as a mapped one. */
export function isIn(address: Uint8Array, { bytes, bits }: Block): boolean {
  if (address.length !== bytes.length) return false;
  const whole = bits >> 3;
  for (let at = 0; at < whole; at++) if (address[at] !== bytes[at]) return false;
  const mask = 0xff00 >> (bits & 7);
  return whole === bytes.length || ((address[whole] ?? 0) & mask & 0xff) === ((bytes[whole] ?? 0) & mask & 0xff);
}

const blocksOf = (...texts: readonly string[]): readonly Block[] =>
  texts.map(blockOf).filter((block) => block !== null);

/** IPv4 that is not the public internet (IANA's special-purpose registry, RFC 6890 and its updates). */
const SPECIAL_4 = blocksOf(
  "0.0.0.0/8", // This network.
  "10.0.0.0/8",
  "100.64.0.0/10", // Carrier-grade NAT.
  "127.0.0.0/8",
  "168.63.129.16", // Public by its number, and yet the inside of a cloud: it serves each machine of Azure.
  "169.254.0.0/16", // Link-local, with the metadata of most clouds.
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24", // Relays of 6to4.
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4", // Multicast.
  "240.0.0.0/4", // Reserved, and broadcast.
);

/**
 * IPv6 is public only in 2000::/3. This leaves out ::, ::1, mapped and compatible IPv4, NAT64 (64:ff9b::/96, 64:ff9b:1::/48),
 * local (fc00::/7), link-local (fe80::/10), site-local and multicast addresses. These parts of 2000::/3 are special, too.
 */
const PUBLIC_6 = blocksOf("2000::/3");
const SPECIAL_6 = blocksOf(
  "2001::/23", // Protocols of the IETF: Teredo, which carries an IPv4 address, benchmarks, ORCHID.
  "2001:db8::/32",
  "2002::/16", // 6to4, which carries an IPv4 address.
  "3fff::/20",
);

/** True for an address of the public internet, of one machine. */
export function isPublic(address: Uint8Array): boolean {
  if (address.length === 4) return !SPECIAL_4.some((block) => isIn(address, block));
  return PUBLIC_6.some((block) => isIn(address, block)) && !SPECIAL_6.some((block) => isIn(address, block));
}
