import { expect } from "bun:test";
import { linkSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Fills a folder with all that a census may meet; returns what ends its socket. */
export function fillOddFolder(root: string): () => void {
  const put = (path: string, content: string | Uint8Array): void => {
    mkdirSync(join(root, path, ".."), { recursive: true });
    writeFileSync(join(root, path), content);
  };
  put("code/plain.ts", "export const answer = 42;\n// the end");
  put("code/upper.TXT", "The the THE\n");
  put("code/windows.txt", "one two\r\nthree\r\n");
  put("code/mark.txt", "\uFEFFmarked text\n");
  put("code/only-mark.txt", "\uFEFF");
  put("code/empty.md", "");
  put("code/breaks.txt", "\n\n\n");
  put("code/constructor.json", '{ "constructor": "__proto__ toString hasOwnProperty" }');
  put("名前/разное.md", "Слово слово СЛОВО naïve Straße ελληνικά\n");
  put("名前/emoji 👩‍👩‍👧 name.txt", "two words\n");
  put("line\nbreak\u001b[31m.txt", "word\n".repeat(1_234));
  put("no-extension", "plain words\n");
  put("long.txt", longText(9_000));
  put("one-line.txt", "abc ".repeat(50_000));
  put("one-word.txt", "w".repeat(300_000));
  put("late-nul.txt", `${"a ".repeat(4_096)}\0word`); // At 8,192: a text.
  put("binary/early-nul.txt", `${"a ".repeat(4_095)}a\0word`); // At 8,191.
  put("binary/latin-1.txt", new Uint8Array([0x63, 0x61, 0x66, 0xe9, 0x0a]));
  put("binary/bad-end.txt", Buffer.concat([Buffer.from("fine words\n".repeat(20_000)), Buffer.from([0xe2, 0x82])]));
  put("node_modules/left-out/index.js", "never counted\n");
  put("deeper/dist/out.js", "nor this\n");
  put("deeper/.hidden", "hidden words\n");
  put(".envoi/half-written", "left out\n");
  put("deeper/.envoi/file", "counted\n");
  mkdirSync(join(root, "empty"));
  linkSync(join(root, "code/windows.txt"), join(root, "code/twin.txt"));
  symlinkSync("code/plain.ts", join(root, "to-file"));
  symlinkSync("..", join(root, "code/to-parent"));
  symlinkSync("nowhere", join(root, "broken"));
  symlinkSync("itself", join(root, "itself"));
  expect(Bun.spawnSync(["mkfifo", join(root, "fifo")]).exitCode).toBe(0);
  const socket = Bun.listen({ unix: join(root, "socket"), socket: { data() {} } });
  // A name in Latin 1, where the file system takes it.
  if (process.platform === "linux") writeFileSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xe9])]), "é");
  // Paths of up to 4,095 bytes are served; below them are more folders.
  const deep =
    'f=$(printf "%0250d" 0); d=$(printf "%0200d" 0); for i in $(seq 25); do : >$f; mkdir $d; cd -P ./$d; done';
  mkdirSync(join(root, "deep"));
  expect(Bun.spawnSync(["sh", "-c", deep], { cwd: join(root, "deep") }).exitCode).toBe(0);
  return () => socket.stop();
}

/** Lines of words in several alphabets, over many chunks; no chunk of 64 KiB ends where a word does but by chance. */
function longText(lines: number): string {
  const some = [
    "river",
    "Straße",
    "ДОРОГА",
    "δρόμος",
    "हिन्दी",
    "𝒜𝓁𝓅𝒽𝒶",
    "e\u0301te\u0301",
    "a",
    "道路地図",
    "x".repeat(64),
  ];
  some.push("y".repeat(65), "z".repeat(3_000));
  let state = 7;
  const next = (): string => {
    state = (state * 48_271) % 2_147_483_647;
    return some[state % some.length] ?? "";
  };
  return Array.from({ length: lines }, () => `${next()} ${next()}-${next()}`).join("\r\n");
}
