import { posix } from 'node:path';

/** The URLs between which links of a proxied program are rewritten. */
export interface ProxyLocation {
  /** The path of the proxy, to which the program's own paths are appended. */
  readonly prefix: string;
  /** Host and port of the program. */
  readonly targetHost: string;
  /** The host that the client sent its request to. */
  readonly clientHost: string;
}

/** Rewrites a URL of a redirect or link to lead through the proxy, unless it is relative or of another host. */
export function rewriteUrl(url: string, { prefix, targetHost, clientHost }: ProxyLocation): string {
  const { origin, host, path, rest } = parts(url);
  const isOther = host !== '' && host !== targetHost && host !== clientHost;
  if (isOther || !path.startsWith('/')) return url;
  const kept = host !== '' && host === clientHost ? origin : '';
  if (path.startsWith(prefix)) return `${kept}${path}${rest}`;
  const joined = posix.join('/', prefix, path);
  // A trailing slash is significant.
  return `${kept}${path.endsWith('/') && !joined.endsWith('/') ? `${joined}/` : joined}${rest}`;
}

/** Splits a URL. The origin has the scheme and the host, if there are any. */
function parts(url: string): { origin: string; host: string; path: string; rest: string } {
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(url)?.[0] ?? '';
  const hasHost = url.startsWith('//', scheme.length);
  const hostEnd = hasHost ? end(url, scheme.length + 2, '/?#') : scheme.length;
  const pathEnd = end(url, hostEnd, '?#');
  return {
    origin: url.slice(0, hostEnd),
    host: hasHost ? url.slice(scheme.length + 2, hostEnd) : '',
    // A URL with a scheme and no host, such as mailto:, has no path here.
    path: scheme !== '' && !hasHost ? '' : url.slice(hostEnd, pathEnd),
    rest: url.slice(pathEnd),
  };
}

/** Returns the first index at or after `from` of one of the characters, or the end. */
function end(text: string, from: number, characters: string): number {
  for (let i = from; i < text.length; i++) if (characters.includes(text[i]!)) return i;
  return text.length;
}
