/** `qd proxy`: a local reverse proxy that authenticates for plain HTTP clients. */
import { rm, stat } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { fileProblem } from '../../base/files/file-problem.ts';
import { systemClock } from '../../base/time/clock.ts';
import { connectionFor } from '../clusters/choice.ts';
import { CliError } from '../output/cli-error.ts';
import { explainListening } from '../process/listen.ts';
import { untilStopSignal } from '../process/signals.ts';
import { isAccepted } from './filter.ts';
import type { ProxyFlags } from './flags.ts';
import { createForwarder, type Forwarder } from './forward.ts';
import { followClusterServers } from './servers.ts';
import { serveFile } from './static-files.ts';

export async function proxy(flags: ProxyFlags): Promise<void> {
  const { appendServerPath = false, keepalive } = flags;
  const connection = await connectionFor(flags);
  const { servers, known, close } = await followClusterServers(connection, (server) => forwarder.drop(server));
  const forwarder = createForwarder({ connection, servers, appendServerPath, keepalive });
  await known;
  const server = createProxy(flags, forwarder);
  if (flags.www !== undefined && !(await stat(flags.www).catch(() => undefined))?.isDirectory()) {
    process.stderr.write(`qd: --www ${flags.www} is not a directory: its files are not found\n`);
  }
  const endpoint = await listen(server, flags);
  if (flags.disableFilter) {
    process.stderr.write('qd: requests are not filtered: every web page in a browser on this machine can act as you\n');
  }
  process.stdout.write(`Starting to serve on ${endpoint}\n`);
  await untilStopSignal(systemClock);
  await close();
  forwarder.close();
  server.close();
  server.closeAllConnections();
}

type ProxySettings = Pick<
  ProxyFlags,
  'acceptPaths' | 'rejectPaths' | 'acceptHosts' | 'rejectMethods' | 'disableFilter' | 'apiPrefix' | 'www' | 'wwwPrefix'
>;

export function createProxy(flags: ProxySettings, forwarder: Forwarder): Server {
  const server = createServer({ requestTimeout: 0 });
  server.on('request', (incoming, outgoing) => {
    const target = targetOf(flags, incoming);
    switch (target.type) {
      case 'api':
        return forwarder.request(incoming, outgoing, target.path);
      case 'file':
        return void serveFile(target.directory, target.path, outgoing);
      case 'rejection':
        return answer(outgoing, target.code, target.text);
    }
  });
  server.on('upgrade', (incoming, socket, head) => {
    const target = targetOf(flags, incoming);
    if (target.type === 'api') return forwarder.upgrade(incoming, socket, head, target.path);
    const line = target.type === 'rejection' ? `${target.code} ${target.text}` : '400 Bad Request';
    socket.end(`HTTP/1.1 ${line}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  });
  return server;
}

type Target =
  | { readonly type: 'api'; readonly path: string }
  | { readonly type: 'file'; readonly directory: string; readonly path: string }
  | { readonly type: 'rejection'; readonly code: number; readonly text: string };

const FORBIDDEN: Target = { type: 'rejection', code: 403, text: 'Forbidden' };
const NOT_FOUND: Target = { type: 'rejection', code: 404, text: '404 page not found' };

/** Static files take precedence over the API under the same path. */
function targetOf(flags: ProxySettings, { method = '', url = '', headers }: IncomingMessage): Target {
  const { apiPrefix, www, wwwPrefix } = flags;
  const mark = url.indexOf('?');
  const path = mark < 0 ? url : url.slice(0, mark);
  if (www !== undefined && path.startsWith(wwwPrefix)) {
    return { type: 'file', directory: www, path: decodedOr(path.slice(wwwPrefix.length)) };
  }
  if (!path.startsWith(apiPrefix) && `${path}/` !== apiPrefix) return NOT_FOUND;
  // A prefix that is part of the API's own paths is not removed.
  const rest = apiPrefix.startsWith('/api') ? url : `/${url.slice(apiPrefix.length)}`;
  const request = { method, path: rest.split('?', 1)[0] ?? '', host: headers.host ?? '', origin: headers.origin };
  if (!flags.disableFilter && !isAccepted(flags, request)) return FORBIDDEN;
  return { type: 'api', path: rest };
}

function decodedOr(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    // Matches no file.
    return '\0';
  }
}

function answer(outgoing: ServerResponse, code: number, text: string): void {
  outgoing.writeHead(code, { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' });
  outgoing.end(`${text}\n`);
}

function socketProblem(error: unknown): string {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return 'it already exists, and is not a socket';
    case 'ENOENT':
      return 'its directory does not exist';
    case 'EACCES':
      return 'no permission to write to its directory';
    default:
      return fileProblem(error);
  }
}

async function listen(server: Server, { unixSocket, address, port }: ProxyFlags): Promise<string> {
  const listening = (options: object) =>
    new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(options, resolve);
    });
  if (unixSocket !== undefined) {
    // Removes a socket that another run left behind, and no other file.
    if ((await stat(unixSocket).catch(() => undefined))?.isSocket()) await rm(unixSocket);
    const before = process.umask(0o077);
    await listening({ path: unixSocket })
      .catch((cause: unknown) => {
        throw new CliError(`--unix-socket ${unixSocket} cannot be created: ${socketProblem(cause)}`, { cause });
      })
      .finally(() => process.umask(before));
    return unixSocket;
  }
  await explainListening({ host: address, port, hostFlag: '--address' }, () => listening({ host: address, port }));
  const { port: chosen } = server.address() as { port: number };
  return `${address.includes(':') ? `[${address}]` : address}:${chosen}`;
}
