/** The command `qd proxy`, with the flags of `kubectl proxy`. Its work is loaded when it runs. */
import { Command, InvalidArgumentError } from 'commander';
import { type ConnectionFlags, withConnectionFlags } from '../flags/connection.ts';
import * as value from '../flags/values.ts';

export interface ProxyFlags extends ConnectionFlags {
  readonly port: number;
  readonly address: string;
  readonly unixSocket?: string;
  readonly apiPrefix: string;
  readonly appendServerPath?: boolean;
  readonly www?: string;
  readonly wwwPrefix: string;
  readonly acceptPaths: readonly RegExp[];
  readonly rejectPaths: readonly RegExp[];
  readonly acceptHosts: readonly RegExp[];
  readonly rejectMethods: readonly RegExp[];
  readonly disableFilter?: boolean;
  /** Milliseconds; 0: as the system has it. */
  readonly keepalive: number;
}

export function proxyCommand(): Command {
  const command = new Command('proxy')
    .description('Serves the API on this machine without credentials: it adds those of the client configuration.')
    .option('-p, --port <port>', 'where to listen; 0 for any free port', value.port, 8001)
    .option('--address <ip>', 'on which address', '127.0.0.1')
    .option('-u, --unix-socket <path>', 'listen on this socket in place of a port')
    .option('--api-prefix <path>', 'below which path the API is', prefix, '/')
    .option('--append-server-path', "put the path of the server's address before every path")
    .option('-w, --www <dir>', 'also serve the files of this directory')
    .option('-P, --www-prefix <path>', 'below which path those are', prefix, '/static/');
  patterns(command, '--accept-paths', 'paths that are let through', '^.*');
  patterns(command, '--reject-paths', 'paths that are not', '^/api/.*/pods/.*/exec,^/api/.*/pods/.*/attach');
  patterns(command, '--accept-hosts', 'hosts that requests may be for', '^localhost$,^127\\.0\\.0\\.1$,^\\[::1\\]$');
  patterns(command, '--reject-methods', 'methods that are not let through', '^$');
  command
    .option('--disable-filter', 'let everything through: whoever reaches the port is you')
    .option('--keepalive <time>', 'after how long a silence connections are probed', keepalive, 0);
  return withConnectionFlags(command).action(async (flags: ProxyFlags) => {
    const { proxy } = await import('./proxy.ts');
    await proxy(flags);
  });
}

function patterns(command: Command, flag: string, description: string, usual: string): void {
  const option = command.createOption(`${flag} <patterns>`, description).argParser(expressions);
  command.addOption(option.default(expressions(usual), usual));
}

/** Regular expressions with commas between them. */
export function expressions(text: string): readonly RegExp[] {
  if (text === '') return [];
  return text.split(',').map((part) => {
    try {
      return new RegExp(part);
    } catch {
      throw new InvalidArgumentError(`${part} is not a regular expression.`);
    }
  });
}

function prefix(text: string): string {
  return `/${text.replace(/^\/+|\/+$/g, '')}/`.replace('//', '/');
}

function keepalive(text: string): number {
  return text === '0' ? 0 : value.duration(text);
}
