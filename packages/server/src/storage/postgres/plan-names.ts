import { isPlanOutdated } from "./errors.ts";

/**
 * Names under which the server keeps the plans of fixed statements (statement.ts), so that it parses and plans each
 * once a connection. After a migration the server may refuse a name, since the columns of its table have changed: then
 * all names get a new generation.
 */
export class PlanNames {
  #generation = 0;
  #areOff = false;
  /** The same string each time: a new string would be hashed again wherever it is looked up. */
  readonly #names = new Map<string, string>();

  of(name: string | undefined): string | undefined {
    if (this.#areOff || name === undefined) return undefined;
    let known = this.#names.get(name);
    if (known === undefined) {
      known = `${name}_${this.#generation}`;
      this.#names.set(name, known);
    }
    return known;
  }

  /** After an error for which `isNameRefused` holds. */
  distrust(name: string, error: unknown): void {
    // A pooler has put another server process behind the connection, so names are not used again.
    if (!isPlanOutdated(error)) this.#areOff = true;
    else if (name.endsWith(`_${this.#generation}`)) {
      this.#generation++;
      this.#names.clear();
    }
  }
}
