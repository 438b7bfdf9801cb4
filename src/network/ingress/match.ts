/** Finds the backend of a request. */
import type { IngressConfig, PathRule } from './config.ts';

/** The key of the backend; undefined when no rule matches and there is no default. `path` is without the query. */
export function matchBackend({ hosts, defaultBackend }: IngressConfig, host: string, path: string): string | undefined {
  for (const name of hostCandidates(host)) {
    const found = hosts.get(name)?.find((rule) => matchesPath(rule, path));
    if (found) return found.backend;
  }
  return defaultBackend;
}

/** The host itself, the wildcard for its first label, and all hosts. Without the port. */
export function hostCandidates(host: string): readonly string[] {
  const name = host.replace(/:\d+$/, '').replace(/\.$/, '').toLowerCase();
  const dot = name.indexOf('.');
  return dot > 0 ? [name, `*${name.slice(dot)}`, ''] : [name, ''];
}

/** A prefix consists of whole elements: `/a` matches `/a/b` and not `/ab`. */
function matchesPath({ path, type }: PathRule, requested: string): boolean {
  if (type === 'Exact') return path === requested;
  const prefix = withoutSlashes(path);
  return requested.startsWith(prefix) && (requested.length === prefix.length || requested[prefix.length] === '/');
}

/** Without the slashes at its end. A regular expression would take quadratic time for slashes before that. */
export function withoutSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === '/') end--;
  return path.slice(0, end);
}

/** The longest path first; of two equal ones, the exact one. */
export function byPrecedence(a: PathRule, b: PathRule): number {
  if (a.path.length !== b.path.length) return b.path.length - a.path.length;
  return Number(b.type === 'Exact') - Number(a.type === 'Exact');
}
