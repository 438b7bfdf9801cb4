interface Marked {
  readonly metadata: {
    readonly name?: string;
    readonly creationTimestamp?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

/** Returns the name of the class that one of the annotations marks as the default; the newest if several are marked. */
export function markedDefault(classes: readonly Marked[], annotations: readonly string[]): string | undefined {
  const marked = classes.filter(({ metadata }) => annotations.some((key) => metadata.annotations?.[key] === 'true'));
  return marked.sort(newestFirst)[0]?.metadata.name;
}

function newestFirst({ metadata: a }: Marked, { metadata: b }: Marked): number {
  const [first = '', second = ''] = [a.creationTimestamp, b.creationTimestamp];
  if (first !== second) return first > second ? -1 : 1;
  return (a.name ?? '') < (b.name ?? '') ? -1 : 1;
}
