/** The steps of the wire panel, kept for this tab across redirects. wire-steps.ts has cut their values. */

export type Step = StepContent & { id: string; page: string };

export type StepContent = {
  /**
   * 1: storefront and Latchkey. 2: Latchkey and the identity provider. null: a call that belongs to no
   * sign-on.
   */
  leg: 1 | 2 | null;
  title: string;
  /** The request line, or the parties of the step. */
  line: string;
  status?: string;
  why: string;
  values: readonly Value[];
  /** The search text for the console: a reference, or the customer's id. */
  find?: string;
};

export type Value = { name: string; value: string; why: string };

const LOG = "alder:wire";
const MAX_STEPS = 60;
const listeners: (() => void)[] = [];

export function steps(): Step[] {
  try {
    return JSON.parse(sessionStorage.getItem(LOG) ?? "") as Step[];
  } catch {
    return [];
  }
}

export function noteStep(content: StepContent): void {
  write([...steps(), { ...content, id: crypto.randomUUID(), page: location.pathname }]);
}

/** Merges the steps of another window. A popup begins with a copy of this window's steps. */
export function mergeSteps(others: readonly Step[]): void {
  const known = new Set(steps().map(({ id }) => id));
  write([...steps(), ...others.filter(({ id }) => !known.has(id))]);
}

export const clearSteps = (): void => write([]);

export function onSteps(listener: () => void): void {
  listeners.push(listener);
}

function write(all: readonly Step[]): void {
  try {
    sessionStorage.setItem(LOG, JSON.stringify(all.slice(-MAX_STEPS)));
  } catch {
    // Sign-on must work without storage too.
  }
  for (const listener of listeners) listener();
}
