import type { Script } from "./script.ts";

type Call = { item: readonly (string | number)[]; resolve(answer: unknown): void };

/** The calls of one turn of the event loop with one script and slot. */
export type Batch = { script: Script; slot: string; calls: Call[] };

/** A script that takes longer keeps all other stores waiting. */
const CALLS_PER_SCRIPT = 200;

/** Gathers the calls of one turn of the event loop. `send` runs after all sockets that are readable now were read. */
export class TurnOfCalls {
  readonly #send: (batches: Batch[]) => void;
  #batches: Batch[] = [];
  /** The batches that have room, by script and slot. */
  readonly #open = new Map<string, Batch>();

  constructor(send: (batches: Batch[]) => void) {
    this.#send = send;
  }

  add(script: Script, slot: string, item: readonly (string | number)[]): Promise<unknown> {
    if (this.#batches.length === 0) setImmediate(() => this.#end());
    const { promise, resolve } = Promise.withResolvers<unknown>();
    this.#batchFor(script, slot).calls.push({ item, resolve });
    return promise;
  }

  #batchFor(script: Script, slot: string): Batch {
    const name = script.sha + slot;
    const open = this.#open.get(name);
    if (open && open.calls.length < CALLS_PER_SCRIPT) return open;
    const batch = { script, slot, calls: [] };
    this.#batches.push(batch);
    this.#open.set(name, batch);
    return batch;
  }

  #end(): void {
    const batches = this.#batches;
    this.#batches = [];
    this.#open.clear();
    this.#send(batches);
  }
}
