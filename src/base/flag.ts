/**
 * A command-line flag described as data: its spelling, help text, parser and default. The room that owns a setting
 * describes it, without knowing how a command line is parsed; `cli/flags/` registers it with the parser. The name and the
 * type of the value derive from the description.
 */
export interface Flag<Spec extends string = string, Value = unknown> extends FlagOptions<Value> {
  /** The spelling as help shows it: `--port <port>`, `-n, --namespace <name>`, `--anonymous-auth [bool]`, `--force`. */
  readonly spec: Spec;
  /** Exists in the type only. */
  readonly value?: Value;
}

export interface FlagOptions<Value> {
  readonly help: string;
  /** Parses the text, or throws a FlagError. A repeatable flag also gets the previous result. Default: the text. */
  parse?(text: string, previous?: Value): Value;
  /** The only values allowed; default: whatever `parse` accepts. */
  readonly choices?: readonly Value[];
  readonly default?: Value;
  /** The default as help shows it, for one that is computed later or does not print well. */
  readonly defaultText?: string;
  /** True when the value is saved in the cluster's data directory, so that the next start needs no flag. */
  readonly remembered?: boolean;
  /** True when all servers on one store must have the same value. */
  readonly isAgreed?: boolean;
  /** Message for a user who tries to change a value that is fixed. `from` is the value of the cluster. */
  fixed?(from: NonNullable<Value>, to: NonNullable<Value>): string;
}

/** An invalid flag value. The message is one or more whole sentences. */
export class FlagError extends Error {
  override readonly name = 'FlagError';
}

/** Describes a flag. Its value may be undefined when it has no default. */
export function flag<const Spec extends string, const Choice extends string>(
  spec: Spec,
  options: FlagOptions<Choice> & { readonly choices: readonly Choice[]; readonly default: Choice },
): Flag<Spec, Choice>;
export function flag<const Spec extends string, const Choice extends string>(
  spec: Spec,
  options: FlagOptions<Choice> & { readonly choices: readonly Choice[] },
): Flag<Spec, Choice | undefined>;
export function flag<const Spec extends string, Value = DefaultValue<Spec>>(
  spec: Spec,
  options: FlagOptions<Value> & { readonly default: Value },
): Flag<Spec, Value>;
export function flag<const Spec extends string, Value = DefaultValue<Spec>>(
  spec: Spec,
  options: FlagOptions<Value>,
): Flag<Spec, Value | undefined>;
export function flag(spec: string, options: FlagOptions<unknown>): Flag {
  return { spec, ...options };
}

/** A flag without a value is a switch. */
type DefaultValue<Spec extends string> = Spec extends `${string}>` | `${string}]` ? string : boolean;

type LongName<Spec extends string> = Spec extends `${string}--${infer Long}`
  ? Long extends `${infer Name} ${string}`
    ? Name
    : Long
  : never;

type CamelCase<Name extends string> = Name extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

/** The property that holds the value of a flag: `dataDir` for `--data-dir <dir>`. */
type NameOf<F extends Flag> = CamelCase<LongName<F['spec']>>;

type ValueOf<F extends Flag> = F extends Flag<string, infer Value> ? Value : never;

type Required<F extends Flag> = F extends Flag ? (undefined extends ValueOf<F> ? never : F) : never;

/** The values of a list of flags, with defaults filled in. */
export type ValuesOf<Flags extends readonly Flag[]> = {
  readonly [F in Required<Flags[number]> as NameOf<F>]: ValueOf<F>;
} & {
  readonly [F in Exclude<Flags[number], Required<Flags[number]>> as NameOf<F>]?: ValueOf<F>;
};

/** `--data-dir` for `--data-dir <dir>`. */
export function longName({ spec }: Flag): string {
  return /--[a-z0-9-]+/.exec(spec)?.[0] ?? spec;
}

/** The property that holds the value of a flag. */
export function propertyOf(description: Flag): string {
  return longName(description)
    .slice(2)
    .replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
