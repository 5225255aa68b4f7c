import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { isLong } from "../property/runs";

/** The official Python SDK, and what it validates by. */
const PACKAGES = ["agent-client-protocol==0.12.1", "pydantic==2.14.3"];
/** Kept from one run to the next. */
const folder = join(import.meta.dir, "../../node_modules/.cache", `envoi-acp-python-${PACKAGES.join("-")}`);
const interpreter = join(folder, "bin/python3");

/** A Python that has the official SDK, or why there is none. */
export type OfficialPython =
  | { readonly python: string; readonly lacks?: undefined }
  | { readonly python?: undefined; readonly lacks: string };

/**
 * `ENVOI_ACP_PYTHON`, or else an environment of its own, which the long verification makes, from the registry, and later runs use.
 *
 * @throws Error with what pip said, where it cannot be installed.
 */
export function officialPython(): OfficialPython {
  const given = process.env["ENVOI_ACP_PYTHON"];
  if (given !== undefined) return { python: given };
  if (existsSync(interpreter)) return { python: interpreter };
  if (!isLong) return { lacks: "`bun run verify:long` installs it" };
  if (Bun.which("python3") === null) return { lacks: "there is no python3" };
  mkdirSync(dirname(folder), { recursive: true });
  const made = mkdtempSync(`${folder}-`); // Whole or not at all: a run may be interrupted.
  try {
    const isMade = Bun.spawnSync(["python3", "-m", "venv", made], { stdout: "ignore", stderr: "ignore" }).success;
    if (!isMade) return { lacks: "python3 makes no environments: its modules venv and ensurepip are missing" };
    const install = [
      "-m",
      "pip",
      "install",
      "--quiet",
      "--disable-pip-version-check",
      "--only-binary=:all:",
      ...PACKAGES,
    ];
    const { success, stderr } = Bun.spawnSync([join(made, "bin/python3"), ...install], { stdout: "ignore" });
    if (!success) throw new Error(`pip could not install ${PACKAGES.join(" and ")}: ${stderr.toString()}`);
    renameSync(made, folder); // Its interpreter finds its packages beside itself, wherever that is.
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
  return { python: interpreter };
}
