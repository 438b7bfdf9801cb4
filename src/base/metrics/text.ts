/** The HELP and TYPE lines of a metric in the text format of Prometheus. */
export function head(name: string, type: 'counter' | 'gauge' | 'histogram', help: string): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}`;
}

/** Formats labels in their order, as `verb="GET",group=""`. */
export function labelsOf(values: Readonly<Record<string, string | number>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}="${escaped(String(value))}"`)
    .join(',');
}

/** Formats labels in braces, as they follow the name of a metric; empty when there are none. */
export function inBraces(values: Readonly<Record<string, string>> = {}): string {
  const labels = labelsOf(values);
  return labels && `{${labels}}`;
}

function escaped(value: string): string {
  return value.replace(/[\\"\n]/g, (char) => (char === '\n' ? '\\n' : `\\${char}`));
}
