import type { Command } from "../command.ts";
import {
  integrationCommands,
  keyCommands,
  memberCommands,
  profileCommands,
  realmCommands,
  signOnCommands,
  storeCommands,
} from "./administer.ts";
import { keepCommands, lookCommands, runCommands } from "./operate.ts";

/** Every command there is, in the order of help. */
export const commands: readonly Command[] = [
  ...runCommands,
  ...storeCommands,
  ...keyCommands,
  ...memberCommands,
  ...realmCommands,
  ...profileCommands,
  ...signOnCommands,
  ...integrationCommands,
  ...lookCommands,
  ...keepCommands,
];
