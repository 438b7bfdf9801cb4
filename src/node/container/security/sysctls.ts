import type { SeenPod } from '../../pod/container-run.ts';

/** Returns the kernel parameters that a pod sets in its own namespaces, by name, with dots. */
export function sysctlsOf({ spec }: SeenPod): Record<string, string> {
  return Object.fromEntries((spec.securityContext?.sysctls ?? []).map(({ name, value }) => [withDots(name), value]));
}

/** A name may be written with slashes, so that its parts can have dots: the separator that comes first is the one in use. */
export function withDots(name: string): string {
  const separator = /[./]/.exec(name)?.[0];
  if (separator !== '/') return name;
  return name.replace(/[./]/g, (found) => (found === '/' ? '.' : '/'));
}
