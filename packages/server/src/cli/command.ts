/** A command as data: the parser, `--help` and docs/cli.md are derived from it. */
export type Command = {
  /** One word, or a thing and an action: "key update". */
  name: string;
  does: string;
  /** The one argument that is no option. */
  argument?: Argument;
  options: Options;
  /** Further advice. */
  notes?: string;
  /** Long notes, loaded only when they are shown. */
  loadNotes?(): Promise<string>;
  /** Loads the code of the one command, because loading files is most of the time of a start. */
  load(): Promise<(given: never) => Promise<void>>;
};

/** A reference read out on the telephone is typed with spaces. */
type Argument = { value: string; says: string; isReadOut?: true };

/** An option without `value` is a flag; with `value` it takes one value. */
export type Option = { value?: string; says: string; required?: true; default?: string };
type Options = Readonly<Record<string, Option>>;

/** The arguments of a command, so that its function's types are checked against its options. */
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

/** A command that takes one argument beside its options. */
export const commandOn = <const O extends Options>(
  described: CommandOf<O, GivenOptions<O> & { argument: string }> & { argument: Argument },
): Command => described;

export const NAME = { value: "<name>", says: "1 to 255 characters" } as const;

/** JSON output: one object on one line. A resource has the same members as in the API. */
export const jsonOption = (shape: string) => ({ json: { says: `prints ${shape}, for programs` } });
export const YES_OPTION = { yes: { says: "does not ask first; required where there is no terminal" } };
export const OF_STORE = { store: { value: "<store>", says: "the store's id", required: true } } as const;
/** For commands that change nothing, or only add. */
export const FROM_STORE = {
  store: { value: "<store>", says: "the store's id; optional where there is only one store" },
} as const;
/** The last options of a list, which JSON output has under `name`. */
export const listOptions = (name: string) =>
  ({
    limit: { value: "<n>", says: "the number of rows, 1 to 1000", default: "100" },
    after: { value: "<cursor>", says: "continues a list after this cursor" },
    ...jsonOption(`{"${name}": […], "next": cursor or null}`),
  }) as const;
