import { readConfig } from "../config.ts";
import { addNextKey, PUBLISHED_BEFORE_MS } from "../customers/signing-keys.ts";
import { createKeyring } from "../lib/keyring.ts";
import { resealAll } from "../sealed.ts";
import { readOptions } from "./options.ts";
import { withStorage } from "./with-storage.ts";

const USAGE = `latchkey rotate-keys [--signing]

Seals everything that is kept sealed anew with the first key of LATCHKEY_MASTER_KEY. To change the master key:

  1. let every instance open with the new key: LATCHKEY_MASTER_KEY=<old>,<new>; restart them all
  2. make with it: LATCHKEY_MASTER_KEY=<new>,<old>; restart them all
  3. run this
  4. after an hour, when the access tokens of the old key have expired, take the old one away; restart

  --signing   also makes the next key that customer tokens are signed with: published now, used in ten minutes.
              That happens by itself every 30 days.`;

export async function rotateKeys(args: string[]): Promise<void> {
  const options = readOptions(USAGE, args, { signing: { type: "boolean" } });
  if (!options) return;
  const keyring = createKeyring(readConfig(process.env).masterKeys);
  await withStorage(async ({ storage, clock }) => {
    const { resealed, kept } = await resealAll({ storage, keyring });
    console.log(`sealed anew: ${resealed}; already under the first key: ${kept}`);
    if (!options.signing) return;
    const kid = await addNextKey({ storage, clock, keyring });
    console.log(`next signing key: ${kid}, in use in ${PUBLISHED_BEFORE_MS / 60_000} minutes`);
  });
}
