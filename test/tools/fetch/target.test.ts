import { expect, test } from "bun:test";
import { FetchRefusal } from "../../../src/tools/fetch/fetch-error";
import { targetOf, urlText } from "../../../src/tools/fetch/target";

/** The plain form of a URL, or the kind of its refusal. */
function read(text: string): string {
  try {
    return urlText(targetOf(text));
  } catch (thrown) {
    if (thrown instanceof FetchRefusal) return thrown.kind;
    throw thrown;
  }
}

test.each([
  "",
  "example.com",
  "//example.com/",
  "/etc/passwd",
  "file:///etc/passwd",
  "FILE:///etc/passwd",
  "data:text/plain,hello",
  "blob:https://example.com/1",
  "javascript:1",
  "ftp://example.com/",
  "ws://example.com/",
  "s3://bucket/key",
  "unix:///run/docker.sock",
  "http+unix://%2Frun%2Fdocker.sock/",
  "http:example.com",
  "http:/example.com",
  "http:///example.com",
  "https:\\\\example.com\\",
  "https://example.com\\@evil.test/",
  "https://user@example.com/",
  "https://user:pass@example.com/",
  "https://@example.com/",
  "https://:@example.com/",
  "https://good.test@evil.test/",
  "https://good.test%40evil.test/",
  "https://exa mple.com/",
  " https://example.com/",
  "https://example.com/a\r\nHost: evil.test",
  "https://exam\tple.com/",
  "https://example.com\u0000.evil.test/",
  "https://example.com./",
  "https://.example.com/",
  "https://a..b/",
  "https://-a.test/",
  "https://exa$mple.com/",
  "https://example.com:0/",
  "https://example.com:65536/",
  "https://256.1.1.1/",
  "https://1.2.3.4.5/",
  "https://[::1%25eth0]/",
  "https://[::1/",
  `https://${"a".repeat(64)}.test/`,
  `https://example.com/${"a".repeat(9_000)}`,
  "https://example.com/a/..%2fb",
  "https://example.com/a/%2e%2e%2fb",
  "https://example.com/a/..%5cb",
  "https://example.com/a/%252e%252e%252fb",
  "https://example.com/a/..;/b",
  "https://example.com/a/%2e%2e;x=1/b",
  "https://example.com/a/%c0%ae%c0%ae%c0%afb",
  "https://example.com/a%00b",
  "https://example.com/%2525252525252561",
])("%j is refused", (text) => expect(read(text)).toBe("invalid-url"));

test.each([
  ["https://example.com", "https://example.com/"],
  ["HTTPS://EXAMPLE.com:443/A?b#c", "https://example.com/A?b"],
  ["http://example.com:80/", "http://example.com/"],
  ["http://example.com:8080/", "http://example.com:8080/"],
  ["https://bücher.test/ü?ü", "https://xn--bcher-kva.test/%C3%BC?%C3%BC"],
  ["https://example.com/a/../b", "https://example.com/b"],
  ["https://example.com/a/%2e%2e/b", "https://example.com/b"],
  ["https://example.com/a%2Fb/c", "https://example.com/a%2Fb/c"],
  ["https://example.com/a..b/.c", "https://example.com/a..b/.c"],
  ["https://example.com/?q=../..&at=a@b", "https://example.com/?q=../..&at=a@b"],
  ["https://foo_bar.test/", "https://foo_bar.test/"],
  ["http://2130706433/", "http://127.0.0.1/"],
  ["http://0x7f.1/", "http://127.0.0.1/"],
  ["http://0177.0.0.1/", "http://127.0.0.1/"],
  ["http://127.1/", "http://127.0.0.1/"],
  ["http://①②⑦.0.0.1/", "http://127.0.0.1/"],
  ["http://0/", "http://0.0.0.0/"],
  ["http://[::FFFF:127.0.0.1]:8080/", "http://[::ffff:7f00:1]:8080/"],
])("%j is read as %j", (text, plain) => expect(read(text)).toBe(plain));

test("an address in any spelling is known as one", () => {
  for (const host of ["2130706433", "0x7f.1", "0177.0.0.1", "127.1", "127.0.0.1"]) {
    expect([...(targetOf(`http://${host}/`).address ?? [])]).toEqual([127, 0, 0, 1]);
  }
  expect(targetOf("http://[::1]/").address?.length).toBe(16);
  expect(targetOf("http://example.com/").address).toBeNull();
});

test("a long path of percent signs is read in no time that grows faster than it", () => {
  const text = `https://example.com/${"%25".repeat(2_700)}`;
  for (let times = 0; times < 100; times++) read(text);
  expect(read(`https://example.com/${"%25".repeat(100)}`)).toStartWith("https://");
});
