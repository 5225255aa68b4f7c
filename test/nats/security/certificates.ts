import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A certificate and its key, as files and as PEM. */
export interface Certificate {
  readonly certFile: string;
  readonly keyFile: string;
  readonly cert: string;
  readonly key: string;
}

/** An authority that signs certificates. */
export interface Authority extends Certificate {
  /** Signs a certificate for a name, and for servers on loopback. */
  sign(name: string): Certificate;
}

/** False where there is no openssl: the tests that need certificates are counted as skipped. */
export const hasOpenssl = Bun.which("openssl") !== null;
if (!hasOpenssl) console.warn("Tests of TLS are skipped, because there is no openssl here to make certificates.");

function openssl(...options: readonly string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(["openssl", ...options], { stdout: "ignore", stderr: "pipe" });
  if (exitCode !== 0) throw new Error(`openssl ${options[0]} failed: ${stderr}`);
}

const read = (certFile: string, keyFile: string): Certificate => ({
  certFile,
  keyFile,
  cert: readFileSync(certFile, "utf8"),
  key: readFileSync(keyFile, "utf8"),
});

const NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

/** Makes an authority in a folder of its own, which `remove` takes away. */
export function makeAuthority(): { readonly authority: Authority; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), "envoi-tls-"));
  const at = (file: string): string => join(folder, file);
  const [caCert, caKey] = [at("ca.pem"), at("ca.key")];
  openssl("req", "-x509", ...NEW_KEY, "-days", "2", "-subj", "/CN=envoi test", "-keyout", caKey, "-out", caCert);
  const sign = (name: string): Certificate => {
    const [cert, key, request, extensions] = [
      at(`${name}.pem`),
      at(`${name}.key`),
      at(`${name}.csr`),
      at(`${name}.ext`),
    ];
    openssl("req", ...NEW_KEY, "-subj", `/CN=${name}`, "-keyout", key, "-out", request);
    writeFileSync(extensions, "subjectAltName=IP:127.0.0.1,DNS:localhost\nextendedKeyUsage=serverAuth,clientAuth\n");
    const signed = ["-CA", caCert, "-CAkey", caKey, "-CAcreateserial", "-days", "2", "-extfile", extensions];
    openssl("x509", "-req", "-in", request, ...signed, "-out", cert);
    return read(cert, key);
  };
  return {
    authority: { ...read(caCert, caKey), sign },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
