import { readConfig } from "../config.ts";
import { resealSecrets } from "../identity-provider/client-secret.ts";
import { createKeyring } from "../lib/keyring.ts";
import { readOptions } from "./options.ts";
import { withStorage } from "./with-storage.ts";

const USAGE = `latchkey rotate-keys

Seals everything that is kept sealed anew with the first key of LATCHKEY_MASTER_KEY. To change the master key:

  1. put the new key first and keep the old one: LATCHKEY_MASTER_KEY=<new>,<old>; restart every instance
  2. run this
  3. after an hour, when the access tokens of the old key have expired, take the old one away; restart`;

export async function rotateKeys(args: string[]): Promise<void> {
  if (!readOptions(USAGE, args, {})) return;
  const keyring = createKeyring(readConfig(process.env).masterKeys);
  const { resealed, kept } = await withStorage(({ storage }) => resealSecrets({ storage, keyring }));
  console.log(`sealed anew: ${resealed}; already under the first key: ${kept}`);
}
