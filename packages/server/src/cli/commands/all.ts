import type { Command } from "../command.ts";
import {
  integrationCommands,
  memberCommands,
  profileCommands,
  realmCommands,
  setupLinkCommands,
  signOnCommands,
} from "./administer.ts";
import { keepCommands, lookCommands, runCommands } from "./operate.ts";
import { signInCommands } from "./sign-in.ts";
import { keyCommands, storeCommands } from "./stores-and-keys.ts";

/** All commands, in the order of help. */
export const commands: readonly Command[] = [
  ...runCommands,
  ...signInCommands,
  ...storeCommands,
  ...keyCommands,
  ...memberCommands,
  ...realmCommands,
  ...profileCommands,
  ...setupLinkCommands,
  ...signOnCommands,
  ...integrationCommands,
  ...lookCommands,
  ...keepCommands,
];
