/** The path and query of a request's URL. */
import type { CallOptions } from '../../../api/call.ts';
import type { Request } from '../transport.ts';

/** Returns a path such as `/apis/apps/v1/namespaces/default/deployments/web/scale?dryRun=All`. */
export function pathOf(request: Request): string {
  const { apiVersion, plural, namespace, name, subresource } = request;
  const steps = [apiVersion.includes('/') ? 'apis' : 'api', ...apiVersion.split('/')];
  if (namespace !== undefined) steps.push('namespaces', namespace);
  steps.push(plural);
  if (name !== undefined) steps.push(name);
  if (subresource !== undefined) steps.push(...subresource.split('/'));
  const query = queryOf(request);
  return `/${steps.map(encodeURIComponent).join('/')}${query ? `?${query}` : ''}`;
}

function queryOf({ verb, options = {}, query: others }: Request): string {
  const query = new URLSearchParams(others);
  if (verb === 'watch') query.set('watch', 'true');
  for (const key of Object.keys(options) as (keyof CallOptions)[]) {
    const value = options[key];
    if (value === undefined) continue;
    for (const each of Array.isArray(value) ? value : [value]) query.append(key, String(each));
  }
  return query.toString();
}
