import { scriptFrom } from "../../counters/script.ts";
import type { Valkey } from "../../counters/valkey.ts";
import type { Clock } from "../../lib/clock.ts";
import {
  DOWN_AFTER,
  type HealthOutcome,
  type HealthStates,
  type HealthStatus,
  REST_MS,
  type SharedState,
} from "./health-states.ts";

const FORGOTTEN_AFTER_MS = 30 * 86_400_000;
/** Profiles per script: more would keep other callers of Valkey waiting. */
const PAGE = 500;
const SLOT = "identity-providers";

type Deps = {
  clock: Clock;
  valkey: Pick<Valkey, "run">;
  onHealthChanged: (profileId: string, status: HealthStatus) => void;
};

/** The states that all instances share in Valkey. Valkey's answers are copied into `states`. */
export class SharedHealth {
  readonly #deps: Deps;
  readonly #states: HealthStates;
  /** How far the changes of other instances have been read. */
  #born = "";
  #last = "0";
  #reading: Promise<void> | undefined;

  constructor(deps: Deps, states: HealthStates) {
    this.#deps = deps;
    this.#states = states;
  }

  /** Whether the provider may be asked now. Undefined while Valkey is away: this instance decides alone. */
  async note(what: HealthOutcome | "ask" | "forget", profileId: string): Promise<boolean | undefined> {
    const answer = await this.#run([what, profileId, this.#deps.clock.now()]);
    if (answer === undefined) return undefined;
    const [mayAsk, hasChanged, ...state] = answer as [number, number, ...SharedState];
    this.#states.adopt(profileId, state);
    if (hasChanged === 1) this.#deps.onHealthChanged(profileId, state[0] as HealthStatus);
    return mayAsk === 1;
  }

  /** Reads what other instances have changed. */
  async refresh(): Promise<void> {
    this.#reading ??= this.#readChanges().finally(() => {
      this.#reading = undefined;
    });
    await this.#reading;
  }

  async #readChanges(): Promise<void> {
    for (let isMore = true; isMore; ) {
      const answer = await this.#run(["read", this.#born, this.#last]);
      if (answer === undefined) return;
      const [born, last, ...parts] = answer as [string, string, ...unknown[]];
      if (born !== this.#born) this.#states.clear();
      this.#born = born;
      this.#last = last;
      for (let at = 0; at < parts.length; at += 5)
        this.#states.adopt(parts[at] as string, parts.slice(at + 1, at + 5) as SharedState);
      isMore = parts.length === 5 * PAGE;
    }
  }

  /** After an absence of Valkey everything is read again. */
  async #run(item: readonly (string | number)[]): Promise<unknown> {
    const answer = await this.#deps.valkey.run(scriptOf(), SLOT, item);
    if (answer === undefined) this.#born = "";
    return answer;
  }
}

const scriptOf = scriptFrom(
  `local DOWN_AFTER, REST = ${DOWN_AFTER}, ${REST_MS}
local FORGOTTEN_AFTER, PAGE = ${FORGOTTEN_AFTER_MS}, ${PAGE}`,
  new URL("health.lua", import.meta.url),
);
