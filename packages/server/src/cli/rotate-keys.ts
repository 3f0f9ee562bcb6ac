import { readConfig } from "../config.ts";
import { countLiveTokens } from "../customers/customer-token.ts";
import { addNextKey, PUBLISHED_BEFORE_MS, replaceKeys } from "../customers/key-rows.ts";
import type { Clock } from "../lib/clock.ts";
import { createKeyring, type Keyring } from "../lib/keyring.ts";
import { operatorFault } from "../lib/operator-fault.ts";
import { resealAll } from "../sealed.ts";
import type { Storage } from "../storage/storage.ts";
import { confirm } from "./confirm.ts";
import { readOptions } from "./options.ts";
import { createProgress } from "./progress.ts";
import { withStorage } from "./with-storage.ts";

const USAGE = `latchkey rotate-keys [--signing [--now [--yes]]]

Seals everything that is kept sealed anew with the first key of LATCHKEY_MASTER_KEY. To change the master key:

  1. let every instance open with the new key: LATCHKEY_MASTER_KEY=<old>,<new>; restart them all
  2. make with it: LATCHKEY_MASTER_KEY=<new>,<old>; restart them all
  3. run this
  4. after an hour, when the access tokens of the old key have expired, take the old one away; restart

  --signing   also makes the next key that customer tokens are signed with: published within a
              minute, used in ten. That happens by itself every 30 days.
  --now       for a signing key that somebody else may have: all keys of before are removed from the key set and a new
              one signs at once. Every customer token ends. Asks first, or takes --yes.`;

export async function rotateKeys(args: string[]): Promise<void> {
  const options = readOptions(USAGE, args, {
    signing: { type: "boolean" },
    now: { type: "boolean" },
    yes: { type: "boolean" },
  });
  if (!options) return;
  if (options.now && !options.signing) throw operatorFault("--now is for signing keys: --signing --now");
  const keyring = createKeyring(readConfig(process.env).masterKeys);
  await withStorage(async ({ storage, clock }) => {
    if (options.now) return replaceNow({ storage, clock, keyring }, options.yes);
    const { resealed, kept } = await resealAll({ storage, keyring });
    console.log(`sealed anew: ${resealed}; already under the first key: ${kept}`);
    if (!options.signing) return;
    const kid = await addNextKey({ storage, clock, keyring });
    console.log(`next signing key: ${kid}, in use in ${PUBLISHED_BEFORE_MS / 60_000} minutes`);
  });
}

type Deps = { storage: Storage; clock: Clock; keyring: Keyring };

async function replaceNow(deps: Deps, isAgreed: boolean | undefined): Promise<void> {
  const live = await countLiveTokens(deps);
  await confirm(
    `This removes every signing key at once. It ends ${live} live customer tokens of all stores: those customers have to ` +
      "sign in again. Others that check our tokens themselves may keep the old key set for five minutes.",
    isAgreed,
  );
  const progress = createProgress("deleting customer tokens");
  let done = 0;
  const { kid, endedTokens } = await replaceKeys(deps, (deleted) => {
    done += deleted;
    progress.show(done, live);
  }).finally(progress.end);
  console.log(`new signing key: ${kid}, in use now; customer tokens ended: ${endedTokens}`);
}
