/** The faults that the provider's knobs cause. */
export type KnobSettings = {
  clockSkewSeconds: number;
  tokenDelayMs: number;
  tokenEndpointFails: boolean;
  wrongIssuer: boolean;
  twoAudiences: boolean;
  dropEmail: boolean;
  refuseConsent: boolean;
};

export type Knobs = {
  get(): KnobSettings;
  /** Absent settings do not change. */
  set(change: Partial<KnobSettings>): void;
  /** Replaces the signing key, and removes the old key from the key set. */
  rotateKeys(): void;
  /** Turns all knobs off. Keeps the signing key. */
  reset(): void;
};

export type SwitchName = {
  [Name in keyof KnobSettings]: KnobSettings[Name] extends boolean ? Name : never;
}[keyof KnobSettings];
export type DialName = Exclude<keyof KnobSettings, SwitchName>;

export const switchNames = [
  "tokenEndpointFails",
  "wrongIssuer",
  "twoAudiences",
  "dropEmail",
  "refuseConsent",
] as const satisfies readonly SwitchName[];

export const dials = {
  clockSkewSeconds: { least: -86_400, most: 86_400 },
  tokenDelayMs: { least: 0, most: 60_000 },
} as const satisfies Record<DialName, { least: number; most: number }>;

const OFF: Readonly<KnobSettings> = {
  clockSkewSeconds: 0,
  tokenDelayMs: 0,
  tokenEndpointFails: false,
  wrongIssuer: false,
  twoAudiences: false,
  dropEmail: false,
  refuseConsent: false,
};

export function createKnobs(rotateKeys: () => void): Knobs {
  let settings = { ...OFF };
  return {
    get: () => ({ ...settings }),
    set(change) {
      for (const name of Object.keys(dials) as DialName[]) {
        const value = change[name];
        if (value !== undefined && !fits(name, value)) throw new RangeError(`${name} cannot be ${value}`);
      }
      settings = { ...settings, ...change };
    },
    rotateKeys,
    reset() {
      settings = { ...OFF };
    },
  };
}

export const fits = (name: DialName, value: number): boolean =>
  Number.isInteger(value) && value >= dials[name].least && value <= dials[name].most;

/** The names of the knobs that are not off. */
export const turned = (settings: KnobSettings): (keyof KnobSettings)[] =>
  (Object.keys(OFF) as (keyof KnobSettings)[]).filter((name) => settings[name] !== OFF[name]);
