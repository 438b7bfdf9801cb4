/** Arguments of the control plane that the operator overrides: `--a=1,--b=2`. */
export type Overrides = ReadonlyMap<string, string>;

/** Throws an error that explains invalid text. A value may contain commas: the next argument begins with two dashes. */
export function parseOverrides(text: string): Overrides {
  const overrides = new Map<string, string>();
  for (const part of text.split(/,(?=--)/).filter((each) => each !== '')) {
    const [, name, value] = /^(--[a-z0-9-]+)=(.*)$/s.exec(part) ?? [];
    if (name === undefined || value === undefined) {
      throw new Error(`${JSON.stringify(part)} is not like --argument=value`);
    }
    overrides.set(name, value);
  }
  return overrides;
}

/** The arguments in order of their names, overridden ones with their new value. */
export function argumentsWith(own: Readonly<Record<string, string>>, overrides: Overrides): readonly string[] {
  return [...new Map([...Object.entries(own), ...overrides])]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`);
}
