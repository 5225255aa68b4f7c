import * as fs from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";

/** A file tool as they are commonly made: the path is checked, and then it is used. */
export interface NaiveServer {
  read(path: string): string;
  write(path: string, content: string): void;
  append(path: string, content: string): void;
  list(path: string): string[];
  stat(path: string): { size: number };
  mkdir(path: string): void;
  move(from: string, to: string): void;
  copy(from: string, to: string): void;
  delete(path: string): void;
}

/** Its check: gives the path to use, or throws. */
type Check = (root: string, path: string) => string;

/** Joins, and looks at how the text begins. */
export const byPrefix: Check = (root, path) => {
  const whole = resolve(root, path);
  if (!whole.startsWith(root)) throw new Error("outside");
  return whole;
};

/** Asks where the path, or the directory that it will be in, really is. */
export const byRealpath: Check = (root, path) => {
  const whole = resolve(root, path);
  const real = fs.existsSync(whole) ? fs.realpathSync(whole) : join(fs.realpathSync(dirname(whole)), "x");
  const below = relative(root, real);
  if (below === ".." || below.startsWith(`..${sep}`)) throw new Error("outside");
  return whole;
};

export function createNaiveServer(root: string, check: Check): NaiveServer {
  const at = (path: string): string => check(root, path);
  return {
    read: (path) => fs.readFileSync(at(path), "utf8"),
    write: (path, content) => fs.writeFileSync(at(path), content),
    append: (path, content) => fs.appendFileSync(at(path), content),
    list: (path) => fs.readdirSync(at(path)),
    stat: (path) => ({ size: fs.statSync(at(path)).size }),
    mkdir: (path) => void fs.mkdirSync(at(path), { recursive: true }),
    move: (from, to) => fs.renameSync(at(from), at(to)),
    copy: (from, to) => fs.copyFileSync(at(from), at(to)),
    delete: (path) => fs.rmSync(at(path), { recursive: true, force: true }),
  };
}
