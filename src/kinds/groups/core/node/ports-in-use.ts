/** Annotation of a node that lists ports requested by Services but not opened: other programs listen on them. */

export const PORTS_IN_USE_ANNOTATION = 'node.kubernetes.io/ports-in-use';

interface Annotated {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> | undefined };
}

/** The ports that a node names, as `TCP/22`. */
export function portsInUse({ metadata }: Annotated): readonly string[] {
  return (metadata.annotations?.[PORTS_IN_USE_ANNOTATION] ?? '').split(',').filter((name) => name !== '');
}

/** Returns the value of the annotation; null, which removes it, when there are none. */
export function portsInUseValue(ports: readonly string[]): string | null {
  return ports.length === 0 ? null : ports.join(',');
}
