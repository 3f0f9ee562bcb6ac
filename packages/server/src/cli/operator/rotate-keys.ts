import { readConfig } from "../../config.ts";
import { countLiveTokens } from "../../customers/tokens/revoke-tokens.ts";
import type { Clock } from "../../lib/clock.ts";
import { createKeyring, type Keyring } from "../../lib/keyring.ts";
import { usageFault } from "../../lib/operator-fault.ts";
import { refuseMissingKeys, resealAll } from "../../sealed.ts";
import { addNextKey, PUBLISHED_BEFORE_MS, replaceKeys } from "../../signing-keys/key-rows.ts";
import { isUnavailable } from "../../storage/failures.ts";
import type { Storage } from "../../storage/storage.ts";
import { createProgress } from "../progress.ts";
import { findKeptKey } from "../serving/kept-files.ts";
import { confirm } from "./confirm.ts";
import { printAnswer } from "./show-list.ts";
import { withStorage } from "./with-storage.ts";

type RotateOptions = Record<"signing" | "now" | "yes" | "json", boolean>;

export async function rotateKeys(given: RotateOptions): Promise<void> {
  if (given.now && !given.signing) throw usageFault("--now is for signing keys: --signing --now");
  const keyring = createKeyring(readConfig(process.env, findKeptKey).masterKeys);
  await withStorage(async ({ storage, clock }) => {
    if (given.now) return replaceNow({ storage, clock, keyring }, given);
    const { resealed, kept } = await resealAll({ storage, keyring });
    const kid = given.signing ? await addNextKey({ storage, clock, keyring }) : undefined;
    const published = kid && `\nnext signing key: ${kid}, in use in ${PUBLISHED_BEFORE_MS / 60_000} minutes`;
    printAnswer(
      given.json,
      { sealed_anew: resealed, already_sealed: kept, next_signing_key: kid ?? null },
      `sealed anew: ${resealed}; already under the first key: ${kept}${published ?? ""}`,
    );
  });
}

type Deps = { storage: Storage; clock: Clock; keyring: Keyring };

/**
 * Counting millions of tokens may exceed the time limit of a statement, and a leaked key must be removed even then.
 */
const countIfQuick = (deps: Deps): Promise<number | undefined> =>
  countLiveTokens(deps).catch((error) => {
    if (isUnavailable(error)) return undefined;
    throw error;
  });

async function replaceNow(deps: Deps, { yes, json }: RotateOptions): Promise<void> {
  // New signing keys are sealed with the first master key. If that is not the instances' key, they could not open them,
  // so refuse first.
  await refuseMissingKeys(deps);
  const live = await countIfQuick(deps);
  await confirm(
    `This removes every signing key at once. It ends ${live ?? "all"} live customer tokens of all stores: those customers have to ` +
      "sign in again. Services that verify Latchkey's tokens themselves may keep the old key set for five minutes.",
    yes,
  );
  const progress = createProgress("deleting customer tokens");
  let done = 0;
  const { kid, endedTokens } = await replaceKeys(deps, (deleted) => {
    done += deleted;
    progress.show(done, live);
  }).finally(progress.end);
  printAnswer(
    json,
    { signing_key: kid, ended_customer_tokens: endedTokens },
    `new signing key: ${kid}, in use now; customer tokens ended: ${endedTokens}`,
  );
}
