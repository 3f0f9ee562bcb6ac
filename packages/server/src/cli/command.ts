/** A command as data: what is parsed, what `--help` says and what docs/cli.md shows all come from it. */
export type Command = {
  /** One word, or the thing and what is done with it: "key update". */
  name: string;
  does: string;
  /** The one word that is no option. */
  argument?: Argument;
  options: Options;
  /** What else is good to know. */
  notes?: string;
  /** Long notes, loaded only where they are shown. */
  loadNotes?(): Promise<string>;
  /** Only the command that is asked for is loaded: a start is mostly the loading of files. */
  load(): Promise<(given: never) => Promise<void>>;
};

/** What somebody reads out is typed in as many words as they pause. */
type Argument = { value: string; says: string; isReadOut?: true };

/** Without `value` it is said or not; with it, it takes one. */
export type Option = { value?: string; says: string; required?: true; default?: string };
type Options = Readonly<Record<string, Option>>;

/** What a command is given: the types of its function are checked against its options. */
type GivenOptions<O extends Options> = {
  [K in keyof O]: O[K] extends { value: string }
    ? O[K] extends { required: true } | { default: string }
      ? string
      : string | undefined
    : boolean;
};

type CommandOf<O extends Options, G> = Omit<Command, "options" | "argument" | "load"> & {
  options: O;
  load(): Promise<(given: G) => Promise<void>>;
};

export const command = <const O extends Options>(described: CommandOf<O, GivenOptions<O>>): Command =>
  described;

/** A command that takes one word beside its options. */
export const commandOn = <const O extends Options>(
  described: CommandOf<O, GivenOptions<O> & { argument: string }> & { argument: Argument },
): Command => described;

export const NAME = { value: "<name>", says: "1 to 255 characters" } as const;

/** What a program reads: one object on one line. A resource in it has the members that the API shows. */
export const jsonOption = (shape: string) => ({ json: { says: `prints ${shape}, for programs` } });
export const YES_OPTION = { yes: { says: "does not ask first; required where there is no terminal" } };
export const OF_STORE = { store: { value: "<store>", says: "the store's id", required: true } } as const;
/** For commands that change nothing, or only add to what is there. */
export const FROM_STORE = {
  store: { value: "<store>", says: "the store's id; optional where there is only one store" },
} as const;
export const PAGE_OPTIONS = {
  limit: { value: "<n>", says: "the number of rows, 1 to 1000", default: "100" },
  after: { value: "<cursor>", says: "continues a list after this cursor" },
} as const;
