import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { createKeyring } from "../lib/keyring.ts";
import { newSigningSecret, openSigningSecrets, rotatedOut, sealSecret } from "./secret.ts";

test("a secret that is rotated out is sealed with the first master key, so that the one that had sealed it can be taken away", () => {
  const [before, first] = [randomBytes(32), randomBytes(32)];
  const [old, next] = [newSigningSecret(), newSigningSecret()];
  const [id, now] = ["an integration", 0];
  const row = {
    id,
    sealed_secret: sealSecret({ keyring: createKeyring([before]) }, id, old),
    sealed_previous_secret: null,
    previous_until: null,
    sealed_secret_key: null,
  };
  const both = { keyring: createKeyring([first, before]) };
  const rotated = { ...row, sealed_secret: sealSecret(both, id, next), ...rotatedOut(both, row, now) };
  expect(openSigningSecrets({ keyring: createKeyring([first]) }, rotated, now)).toEqual([next, old]);
});
