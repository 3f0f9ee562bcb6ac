import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import type { IncomingHttpHeaders } from "node:http";
import { request } from "node:https";
import { join } from "node:path";
import { findProgram } from "../../packages/server/test/support/programs.ts";

/** A self-made certificate for one name, and requests that trust this certificate alone. */

export const hasOpenssl = (): boolean => findProgram("openssl") !== undefined;

export type Certificate = { name: string; certFile: string; keyFile: string };

export function makeCertificate(folder: string, name: string): Certificate {
  const [certFile, keyFile] = [join(folder, "certificate.pem"), join(folder, "certificate.key")];
  const made = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"];
  const named = ["-subj", `/CN=${name}`, "-addext", `subjectAltName=DNS:${name}`];
  execFileSync("openssl", ["req", ...made, ...named, "-keyout", keyFile, "-out", certFile], {
    stdio: "ignore",
  });
  return { name, certFile, keyFile };
}

type Answer = { status: number; headers: IncomingHttpHeaders; text: string };
type Asked = {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  until?: (text: string) => boolean;
};

/** Sends a request for the certificate's name to this port. `until`: when enough of an endless answer was read. */
export function askOver(
  { name, certFile }: Certificate,
  port: number,
  path: string,
  { method = "GET", headers = {}, body, until = () => false }: Asked = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const options = {
      host: "127.0.0.1",
      port,
      path,
      method,
      servername: name,
      ca: readFileSync(certFile),
      headers: { host: name, ...headers },
      agent: false as const,
    };
    const asked = request(options, (answer) => {
      let text = "";
      const finish = () => {
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text });
        asked.destroy();
      };
      answer.setEncoding("utf8");
      answer.on("data", (chunk) => {
        text += chunk;
        if (until(text)) finish();
      });
      answer.once("end", finish);
    });
    asked.once("error", reject);
    asked.end(body);
  });
}
