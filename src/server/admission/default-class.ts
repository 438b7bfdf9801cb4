import type { Kind, KubeObject } from '../../kinds/kind.ts';
import type { Core } from '../core.ts';
import { derivedFrom } from './lookup.ts';

/** The name of the class that is marked as the default; of several, the newest. */
export function defaultClass<T extends KubeObject>(
  kind: Kind<T>,
  annotations: readonly string[],
): (core: Core) => string | undefined {
  return derivedFrom(kind, (classes) => {
    const marked = classes.filter(({ metadata }) => annotations.some((key) => metadata.annotations?.[key] === 'true'));
    return marked.sort(newestFirst)[0]?.metadata.name;
  });
}

function newestFirst({ metadata: a }: KubeObject, { metadata: b }: KubeObject): number {
  const [first = '', second = ''] = [a.creationTimestamp, b.creationTimestamp];
  if (first !== second) return first > second ? -1 : 1;
  return (a.name ?? '') < (b.name ?? '') ? -1 : 1;
}
