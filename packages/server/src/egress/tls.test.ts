import { readFileSync } from "node:fs";
import { createServer as createHttps } from "node:https";
import { createServer, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { afterEach, describe, expect, test, vi } from "vitest";
import { answerOf, closeAll, listen, MAX, reasonOf, SECRET, send } from "../../test/support/raw-servers.ts";
import { until } from "../../test/support/until.ts";
import { createEgress, type EgressDeps } from "./egress.ts";

afterEach(() => {
  vi.unstubAllEnvs();
  closeAll();
});

describe("TLS", () => {
  const fixture = (name: string) =>
    readFileSync(new URL(`../../test/fixtures/tls/${name}.pem`, import.meta.url), "utf8");
  const ca = fixture("ca");
  const key = fixture("key");

  async function tlsServer(certificate: string) {
    const names: unknown[] = [];
    const server = createHttps({ key, cert: fixture(certificate) }, (request, response) => {
      const { servername, alpnProtocol } = request.socket as Socket & Record<string, unknown>;
      names.push({ servername, alpnProtocol, host: request.headers.host });
      response.end("{}");
    });
    server.on("tlsClientError", () => {});
    const { port, sockets } = await listen(server);
    return { server, port, sockets, names };
  }

  /** An egress to the test's own server, under a name that only the test resolves. */
  function doorTo(host: string, port: number, trusted: string | undefined = ca) {
    const url = `https://${host}:${port}`;
    const deps: EgressDeps = {
      allowedOrigins: [url],
      resolve: async () => ["127.0.0.1"],
      ...(trusted && { ca: trusted }),
    };
    return { url, egress: createEgress(deps), request: { url, maxBytes: MAX } };
  }

  test("with the right certificate is accepted, under the name that was asked for", async () => {
    const { port, names } = await tlsServer("idp");
    const { egress, request } = doorTo("idp.example", port);
    expect(await egress.send(request)).toMatchObject({ status: 200 });
    expect(names).toEqual([
      { servername: "idp.example", alpnProtocol: "http/1.1", host: `idp.example:${port}` },
    ]);
  });

  test("with a wildcard for exactly this depth is accepted", async () => {
    const { port } = await tlsServer("wildcard");
    const { egress, request } = doorTo("a.deep.example", port);
    expect(await reasonOf(egress.send(request))).toBe("answered");
  });

  test.each([
    ["for another host", "other", "idp.example", "tls_name"],
    ["for a host below", "idp", "a.idp.example", "tls_name"],
    ["that has expired", "expired", "idp.example", "tls_expired"],
    ["that signed itself", "self-signed", "idp.example", "tls_unknown_authority"],
    ["with a wildcard that is not deep enough", "wildcard", "a.b.example", "tls_name"],
    ["with a wildcard that is not deep enough", "wildcard", "a.b.deep.example", "tls_name"],
    ["with a wildcard that is too deep", "wildcard", "deep.example.test", "tls_name"],
  ])(
    "with a certificate %s is refused before anything is sent (A54): %s for %s is %s",
    async (_, certificate, host, reason) => {
      const { port, names, sockets } = await tlsServer(certificate);
      const { egress, request } = doorTo(host, port);
      const fault = await egress.send(request).catch((error) => error);
      expect(fault).toMatchObject({ reason, message: `egress: ${reason}` });
      expect(names).toEqual([]);
      await until(() => sockets[0]?.closed);
    },
  );

  test("with a wrong certificate is not tried at the name's other addresses", async () => {
    const { port } = await tlsServer("other");
    const url = `https://idp.example:${port}`;
    let connections = 0;
    const connect = () => {
      connections++;
      return connectTls({ host: "127.0.0.1", port, servername: "idp.example", ca });
    };
    const resolve = async () => ["127.0.0.1", "127.0.0.2"];
    expect(await reasonOf(send({ allowedOrigins: [url], resolve, connect }, { url }))).toBe("tls_name");
    expect(connections).toBe(1);
  });

  test("with a certificate of an unknown authority is refused", async () => {
    const { port, names } = await tlsServer("idp");
    const { egress, request } = doorTo("idp.example", port, "");
    expect(await reasonOf(egress.send(request))).toBe("tls_unknown_authority");
    expect(names).toEqual([]);
  });

  test("is checked again for every request: no session is resumed", async () => {
    const { server, port } = await tlsServer("idp");
    const { egress, request } = doorTo("idp.example", port);
    expect(await reasonOf(egress.send(request))).toBe("answered");
    server.setSecureContext({ key, cert: fixture("other") });
    expect(await reasonOf(egress.send(request))).toBe("tls_name");
  });

  test.each([
    ["self-signed", "tls_unknown_authority"],
    ["other", "tls_name"],
    ["expired", "tls_expired"],
  ])("cannot be switched off by the environment: %s", async (certificate, reason) => {
    vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
    const { port, names } = await tlsServer(certificate);
    const { egress, request } = doorTo("idp.example", port);
    expect(await reasonOf(egress.send(request))).toBe(reason);
    expect(names).toEqual([]);
  });

  test("with a server that answers in plain text is tls_failed", async () => {
    const { port } = await listen(createServer((socket) => socket.end(answerOf(SECRET))));
    const { egress, request } = doorTo("idp.example", port);
    expect(await reasonOf(egress.send(request))).toBe("tls_failed");
  });

  test("that breaks off while shaking hands is a failed connection", async () => {
    const { port } = await listen(createServer((socket) => socket.resetAndDestroy()));
    const { egress, request } = doorTo("idp.example", port);
    expect(await reasonOf(egress.send(request))).toBe("connect_failed");
  });
});
