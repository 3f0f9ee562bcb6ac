/** What happened on the wire, kept for this tab across redirects. Values arrive here already cut: see wire-steps.ts. */

export type Step = StepContent & { id: string; page: string };

export type StepContent = {
  /** 1: storefront and Latchkey. 2: Latchkey and the identity provider. null: a call that belongs to no sign-on. */
  leg: 1 | 2 | null;
  title: string;
  /** The request line, or the way it took. */
  line: string;
  status?: string;
  why: string;
  values: readonly Value[];
  /** What the console finds the record by: a reference, or the customer's id. */
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

/** Takes over what another window has seen: a popup begins with a copy of our steps and adds to it. */
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
    // Where nothing can be kept, signing in must work all the same.
  }
  for (const listener of listeners) listener();
}
