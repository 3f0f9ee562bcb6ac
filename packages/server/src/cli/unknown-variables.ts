import { variables } from "../config.ts";
import { nearest } from "../lib/nearest.ts";

/** Kubernetes sets these in every container next to a service that is named latchkey. */
const isOfKubernetes = (name: string, value: string | undefined): boolean =>
  /_SERVICE_(HOST$|PORT$|PORT_)|_PORT_\d{1,5}_(TCP|UDP)/.test(name) || (value ?? "").includes("://");

/** Variables that begin like Latchkey's and are unknown: a misspelt variable would otherwise be ignored. */
export function unknownVariables(env: Record<string, string | undefined>): string[] {
  const names = variables.map(({ name }) => name);
  return Object.keys(env)
    .filter((name) => /^LATCH_?KEY_/i.test(name) && !names.includes(name))
    .filter((name) => !(/^LATCHKEY_(\w+_)?(PORT|SERVICE)/.test(name) && isOfKubernetes(name, env[name])))
    .map((name) => {
      const meant = nearest(name, names) ?? names.find((known) => `LATCHKEY_${known}` === name);
      return `the variable ${name} has no meaning here${meant ? `; did you mean ${meant}?` : ""}`;
    });
}
