/**
 * The bounds on exports: whole lists as CSV, and files of a person's data. `http/` calls it, `rate-limit/` implements
 * it.
 */
export type Exports = {
  /** Takes a place for an export of the store, or throws the 429. */
  begin(storeId: string): Promise<ExportPlace>;
};

/** Both functions may be called more than once. */
export type ExportPlace = {
  end(): void;
  /** The export has sent nothing, so it does not count. */
  giveBack(): Promise<void>;
};
