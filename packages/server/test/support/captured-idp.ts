import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type HostileIdp, startHostileIdp } from "./hostile-idp.ts";

/**
 * A provider that gives the recorded answers of a real one (fixtures/providers): its documents, tokens and errors,
 * under its own paths. Addresses, keys, times, the nonce and the client are the test's.
 */

type Document = Record<string, unknown>;
export type Captured = {
  kind: "discovery" | "keys" | "token" | "userinfo";
  path: string;
  status: number;
  headers: Record<string, string>;
  body: Document;
};
type CapturedToken = { header: Document; payload: Document };

const FOLDER = new URL("../fixtures/providers/", import.meta.url);

export const capturedProviders = (): string[] =>
  readdirSync(FOLDER).map((name) => name.replace(/\.json$/, ""));

export const capturedOf = (provider: string, kind: Captured["kind"]): Captured[] =>
  (JSON.parse(readFileSync(new URL(`${provider}.json`, FOLDER), "utf8")).answers as Captured[]).filter(
    (answer) => answer.kind === kind,
  );

export const tokenOf = ({ body }: Captured): CapturedToken | undefined =>
  body.id_token as CapturedToken | undefined;

const PAIRS: Record<string, { publicKey: KeyObject; privateKey: KeyObject }> = {
  RSA: generateKeyPairSync("rsa", { modulusLength: 2048 }),
  EC: generateKeyPairSync("ec", { namedCurve: "P-256" }),
  OKP: generateKeyPairSync("ed25519"),
};
const KIND: Record<string, string> = { RS256: "RSA", PS256: "RSA", ES256: "EC", EdDSA: "OKP" };

export type CapturedIdp = HostileIdp & {
  /** Its answers from now on; its keys stay. */
  play(answers: { discovery?: Captured; token?: Captured; userinfo?: Captured | undefined }): void;
};

export async function startCapturedIdp(provider: string): Promise<CapturedIdp> {
  const [discovery] = capturedOf(provider, "discovery") as [Captured];
  let playing: Parameters<CapturedIdp["play"]>[0] = {};
  const seen = String(discovery.body.issuer);
  const seenOrigin = new URL(seen).origin;
  const asked = new Map<string, URLSearchParams>();
  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  const here = <T>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll(seenOrigin, origin));
  const base = await startHostileIdp();
  const issuer = here(seen);

  const idp: CapturedIdp = {
    ...base,
    origin,
    issuer,
    discoveryUrl: `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`,
    clientId: "latchkey",
    signIn(location) {
      const { searchParams } = new URL(location);
      const code = `code-${asked.size}`;
      asked.set(code, searchParams);
      // A provider that declares the iss parameter sends it.
      const iss = playing.discovery?.body.authorization_response_iss_parameter_supported === true && {
        iss: issuer,
      };
      const back = { code, state: searchParams.get("state") ?? "", ...iss };
      return `${searchParams.get("redirect_uri")}?${new URLSearchParams(back)}`;
    },
    play(answers) {
      playing = { discovery, ...answers };
    },
    close: async () => {
      await base.close();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
  idp.play({});

  const algorithm = () => String(playing.token && tokenOf(playing.token)?.header.alg);

  /**
   * Its recorded keys with the test's in their place, and one for the played algorithm where the provider had rotated.
   */
  function keySet(): { keys: Document[] } {
    const keys = (capturedOf(provider, "keys")[0]?.body.keys ?? []) as Document[];
    const ours = keys.map((key) => ({
      ...key,
      ...PAIRS[String(key.kty)]?.publicKey.export({ format: "jwk" }),
    }));
    const kind = KIND[algorithm()] ?? "RSA";
    const fits = ours.some((key) => isFor(key, kind));
    const added = { ...PAIRS[kind]?.publicKey.export({ format: "jwk" }), kid: "played", use: "sig" };
    return { keys: fits ? ours : [...ours, added] };
  }

  const isFor = ({ kty, use, alg }: Document, kind: string): boolean =>
    kty === kind && use !== "enc" && (alg === undefined || alg === algorithm());

  function signed({ header, payload }: CapturedToken, request: URLSearchParams, accessToken: string): string {
    const seconds = Math.floor(idp.now() / 1000);
    const kind = KIND[algorithm()] ?? "RSA";
    const kid = keySet().keys.find((key) => isFor(key, kind))?.kid;
    const lifetime = Number(payload.exp) - Number(payload.iat);
    const claims = here({
      ...payload,
      aud: Array.isArray(payload.aud) ? [request.get("client_id")] : request.get("client_id"),
      ...("azp" in payload && { azp: request.get("client_id") }),
      ...("nonce" in payload && { nonce: request.get("nonce") }),
      ...("at_hash" in payload && { at_hash: halfHash(accessToken) }),
      iat: seconds,
      exp: seconds + lifetime,
    });
    const text = [{ ...header, kid }, claims]
      .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
      .join(".");
    return `${text}.${signature(text).toString("base64url")}`;
  }

  const halfHash = (accessToken: string): string => {
    const digest = createHash(algorithm() === "EdDSA" ? "sha512" : "sha256")
      .update(accessToken)
      .digest();
    return digest.subarray(0, digest.length / 2).toString("base64url");
  };

  function signature(text: string): Buffer {
    const key = (PAIRS[KIND[algorithm()] ?? "RSA"] as { privateKey: KeyObject }).privateKey;
    if (algorithm() === "EdDSA") return sign(null, Buffer.from(text), key);
    if (algorithm() === "ES256") return sign("sha256", Buffer.from(text), { key, dsaEncoding: "ieee-p1363" });
    const pss = algorithm() === "PS256" && { padding: 6, saltLength: 32 };
    return sign("sha256", Buffer.from(text), { key, ...pss });
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url?.split("?")[0] ?? "";
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const send = ({ status, headers }: Captured, body: unknown) =>
      void response.writeHead(status, headers).end(JSON.stringify(here(body)));
    const [keys] = capturedOf(provider, "keys") as [Captured];
    const { token, userinfo } = playing;
    if (path === discovery.path) return send(discovery, playing.discovery?.body);
    if (path === keys.path) return send(keys, keySet());
    if (path === token?.path) {
      const captured = tokenOf(token);
      const form = new URLSearchParams(Buffer.concat(chunks).toString());
      const of = asked.get(form.get("code") ?? "") ?? new URLSearchParams();
      const access_token = "an-access-token";
      return send(
        token,
        captured ? { ...token.body, access_token, id_token: signed(captured, of, access_token) } : token.body,
      );
    }
    if (path === userinfo?.path) return send(userinfo, userinfo.body);
    response.writeHead(404).end();
  }

  return idp;
}
