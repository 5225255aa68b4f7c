import { expect, test } from "bun:test";
import { blockOf, bytesOf, isIn, isPublic } from "../../../src/tools/fetch/ip-address";

const isOpen = (text: string): boolean => {
  const bytes = bytesOf(text);
  if (bytes === null) throw new Error(`${text} is no address.`);
  return isPublic(bytes);
};

test.each([
  "1.1.1.1",
  "8.8.8.8",
  "9.255.255.255",
  "11.0.0.0",
  "93.184.215.14",
  "100.63.255.255",
  "100.128.0.0",
  "172.15.255.255",
  "172.32.0.0",
  "192.167.255.255",
  "198.17.255.255",
  "198.20.0.0",
  "223.255.255.255",
  "2001:200::1",
  "2606:4700:4700::1111",
  "2a00:1450:4001:81b::200e",
])("%s is of the public internet", (text) => expect(isOpen(text)).toBe(true));

test.each([
  ["this network", ["0.0.0.0", "0.255.255.255", "::"]],
  ["loopback", ["127.0.0.1", "127.255.255.254", "::1"]],
  ["private", ["10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.0.1", "fc00::1", "fdff:ffff::1"]],
  ["carrier-grade NAT, with the metadata of a cloud", ["100.64.0.1", "100.127.255.255", "100.100.100.200"]],
  [
    "link-local, with the metadata of clouds",
    ["169.254.169.254", "169.254.0.1", "fe80::1", "febf::1", "fd00:ec2::254"],
  ],
  ["a cloud's inside at a public number", ["168.63.129.16"]],
  ["site-local", ["fec0::1"]],
  ["multicast and broadcast", ["224.0.0.1", "239.255.255.255", "255.255.255.255", "ff02::1"]],
  ["reserved", ["240.0.0.1", "192.0.0.8", "192.88.99.1", "4000::1", "8000::1"]],
  ["of documents and benchmarks", ["192.0.2.1", "198.51.100.1", "203.0.113.1", "198.18.0.1", "2001:db8::1", "3fff::1"]],
  ["mapped and compatible IPv4", ["::ffff:127.0.0.1", "::ffff:8.8.8.8", "::127.0.0.1", "::ffff:7f00:1"]],
  ["NAT64", ["64:ff9b::127.0.0.1", "64:ff9b::8.8.8.8", "64:ff9b:1::1"]],
  ["6to4 and Teredo, which carry IPv4", ["2002:7f00:1::", "2001:0:53aa:64c:0:fbff:80ff:fffe"]],
])("no address that is %s is public", (_, texts) => {
  expect(texts.filter(isOpen)).toEqual([]);
});

test.each([
  "",
  "localhost",
  "1.2.3",
  "1.2.3.4.5",
  "127.1",
  "2130706433",
  "0x7f.0.0.1",
  "0177.0.0.1",
  "127.0.0.01",
  "256.1.1.1",
  " 127.0.0.1",
  "127.0.0.1\n",
  "１２７.0.0.1",
  ":",
  ":::",
  "1::2::3",
  "fe80::1%eth0",
  "[::1]",
  "::1/128",
  "12345::",
  "1:2:3:4:5:6:7:8:9",
])("%j is no address", (text) => expect(bytesOf(text)).toBeNull());

test("an address is read in each of its spellings", () => {
  expect([...(bytesOf("127.0.0.1") ?? [])]).toEqual([127, 0, 0, 1]);
  const one = [...Array(15).fill(0), 1];
  for (const text of ["::1", "0:0:0:0:0:0:0:1", "0000::0001", "::0.0.0.1"])
    expect([...(bytesOf(text) ?? [])]).toEqual(one);
  const mapped = [...Array(10).fill(0), 255, 255, 127, 0, 0, 1];
  for (const text of ["::ffff:127.0.0.1", "::FFFF:7F00:1"]) expect([...(bytesOf(text) ?? [])]).toEqual(mapped);
});

test("a block holds the addresses that share its first bits, and none of the other family", () => {
  const holds = (block: string, address: string): boolean => {
    const [a, b] = [blockOf(block), bytesOf(address)];
    return a !== null && b !== null && isIn(b, a);
  };
  expect(holds("10.0.0.0/8", "10.255.0.1")).toBe(true);
  expect(holds("10.0.0.0/8", "11.0.0.1")).toBe(false);
  expect(holds("10.32.0.0/11", "10.63.255.255")).toBe(true);
  expect(holds("10.32.0.0/11", "10.64.0.0")).toBe(false);
  expect(holds("10.1.2.3", "10.1.2.3")).toBe(true);
  expect(holds("10.1.2.3", "10.1.2.4")).toBe(false);
  expect(holds("0.0.0.0/0", "1.2.3.4")).toBe(true);
  expect(holds("0.0.0.0/0", "::1")).toBe(false);
  expect(holds("127.0.0.0/8", "::ffff:127.0.0.1")).toBe(false);
  expect(holds("fd00::/9", "fd7f::1")).toBe(true);
  expect(holds("fd00::/9", "fd80::1")).toBe(false);
  for (const text of ["10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0.0/8/8", "10.0.0.0/-1", "10/8"]) {
    expect(blockOf(text)).toBeNull();
  }
});
