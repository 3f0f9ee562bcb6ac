import { bearer, drive, expectAnswer, source, type Workload } from "./workload.ts";

const json = { "Content-Type": "application/json" };

export const putKey: Workload = {
  name: "PUT key",
  means: "an application key gets a new name, checked against the store's limit and on the disk",
  others: [],
  goals: [{ against: "limit", share: 0.4 }],
  concurrency: 16,
  drive: ({ url, keyId, accessToken }) => {
    let changes = 0;
    return drive({
      async operate(client) {
        const data = {
          type: "application_key",
          name: `Key ${++changes}`,
          reserved_rate_limit: changes % 100,
        };
        const answer = await client.send({
          url: `${url}/v2/application-keys/${keyId}`,
          method: "PUT",
          headers: { ...bearer(accessToken), ...json },
          body: JSON.stringify({ data }),
        });
        expectAnswer(answer, 200, `"name":"${data.name}"`);
      },
    });
  },
};

export const accessToken: Workload = {
  name: "access token",
  means: "client_credentials: a secret is checked and an access token signed",
  others: ["oidc-provider"],
  concurrency: 16,
  drive: ({ url, clientId, clientSecret, contestant }) => {
    const form = { grant_type: "client_credentials", client_id: clientId, client_secret: clientSecret };
    const body = new URLSearchParams(form).toString();
    const path = contestant === "oidc-provider" ? "/token" : "/oauth/access_token";
    return drive({
      async operate(client) {
        const headers = { "Content-Type": "application/x-www-form-urlencoded", ...source() };
        const answer = await client.send({ url: `${url}${path}`, method: "POST", headers, body });
        expectAnswer(answer, 200, '"access_token":');
      },
    });
  },
};

export const passwordSignIn: Workload = {
  name: "e-mail and password",
  means: "a customer token for an e-mail and a password; nearly all of it is Argon2id",
  others: ["argon2"],
  concurrency: 4,
  drive: ({ url, implicitToken, customer: { email, password } }) =>
    drive({
      async operate(client) {
        const answer = await client.send({
          url: `${url}/v2/customers/tokens`,
          method: "POST",
          headers: { ...bearer(implicitToken), ...json, ...source() },
          body: JSON.stringify({ data: { type: "token", email, password } }),
        });
        expectAnswer(answer, 200, '"type":"token"');
      },
    }),
};
