/** The flags of `qd proxy`, which are those of `kubectl proxy`. */
import { FlagError, flag, type ValuesOf } from '../../base/flag.ts';
import { connectionFlags } from '../flags/cluster.ts';
import * as value from '../flags/values.ts';

export const proxyFlags = [
  flag('-p, --port <port>', { help: 'port to listen on; 0 for any free port', parse: value.port, default: 8001 }),
  flag('--address <ip>', { help: 'address to listen on', default: '127.0.0.1' }),
  flag('-u, --unix-socket <path>', { help: 'listen on this Unix socket instead of a port' }),
  flag('--api-prefix <path>', { help: 'path under which the API is served', parse: pathPrefix, default: '/' }),
  flag('--append-server-path', { help: "put the path of the server's URL before the path of every request" }),
  flag('-w, --www <dir>', { help: 'also serve static files from this directory' }),
  flag('-P, --www-prefix <path>', {
    help: 'path under which static files are served',
    parse: pathPrefix,
    default: '/static/',
  }),
  patterns('--accept-paths <patterns>', 'regular expressions of paths to accept', '^.*'),
  patterns(
    '--reject-paths <patterns>',
    'regular expressions of paths to reject',
    '^/api/.*/pods/.*/exec,^/api/.*/pods/.*/attach',
  ),
  patterns(
    '--accept-hosts <patterns>',
    'regular expressions of hosts to accept',
    '^localhost$,^127\\.0\\.0\\.1$,^\\[::1\\]$',
  ),
  patterns('--reject-methods <patterns>', 'regular expressions of HTTP methods to reject', '^$'),
  flag('--disable-filter', { help: 'accept every request: any program that reaches the port acts as you' }),
  flag('--keepalive <time>', {
    help: 'idle time after which TCP keep-alive probes are sent; 0 for the system default',
    parse: (text) => (text === '0' ? 0 : value.duration(text)),
    default: 0,
  }),
  ...connectionFlags,
] as const;

export type ProxyFlags = ValuesOf<typeof proxyFlags>;

function patterns<const Spec extends string>(spec: Spec, help: string, defaultText: string) {
  return flag(spec, { help, parse: expressions, default: expressions(defaultText), defaultText });
}

/** Regular expressions separated by commas. */
export function expressions(text: string): readonly RegExp[] {
  if (text === '') return [];
  return text.split(',').map((part) => {
    try {
      return new RegExp(part);
    } catch {
      throw new FlagError(`${part} is not a regular expression.`);
    }
  });
}

/** With a slash at both ends. */
function pathPrefix(text: string): string {
  return `/${text.replace(/^\/+|\/+$/g, '')}/`.replace('//', '/');
}
