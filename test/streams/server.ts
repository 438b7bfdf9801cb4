/** A real server with one running pod, whose node is this machine. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MessageChannel } from 'node:worker_threads';
import { silent } from '../../src/base/log.ts';
import type { DialGuard } from '../../src/base/sockets/dial/dial-guard.ts';
import { systemClock } from '../../src/base/time/clock.ts';
import { allKinds } from '../../src/kinds/all.ts';
import { createAuthenticator } from '../../src/server/access/authn/authenticator.ts';
import { tokenFile } from '../../src/server/access/authn/files/token-file.ts';
import { createServer, type Server } from '../../src/server/index.ts';
import type { NodeConnection } from '../../src/server/outbound/nodes/connection.ts';
import { serveFront } from '../../src/server/serving/http/front/front-thread.ts';
import { remoteListeners } from '../../src/server/serving/http/front/remote-listeners.ts';
import { createHttpServer, type HttpServerOptions } from '../../src/server/serving/http/server.ts';
import { MemoryStore } from '../../src/store/memory/memory-store.ts';
import { LOOPBACK_GUARD } from '../support/loopback-guard.ts';
import { testAuthority } from '../support/tls.ts';

export interface StreamServer {
  readonly server: Server;
  readonly port: number;
  readonly ca: string;
  /** A kubeconfig whose user may do everything. */
  readonly kubeconfig: string;
  /** Directory for files of a test; removed at the end. */
  readonly directory: string;
  createPod(name: string, spec?: object, status?: object): Promise<void>;
  stop(): Promise<void>;
}

const TOKENS = ['admin,admin,1,system:masters', 'reader,reader,2', 'nobody,nobody,3'].join('\n');
const ADMIN = { name: 'admin', groups: ['system:masters'] };

export async function startStreamServer(
  nodes: NodeConnection,
  options: Partial<HttpServerOptions> = {},
  dialGuard: DialGuard = LOOPBACK_GUARD,
): Promise<StreamServer> {
  const authority = await testAuthority();
  const store = new MemoryStore({ clock: systemClock });
  const server = await createServer({
    ...{ store, kinds: allKinds, clock: systemClock, authorization: ['RBAC'], defaultRoles: true },
    ...{ dialGuard, nodes: () => nodes },
  });
  const http = createHttpServer({
    ...{ handle: server.handle, registry: server.registry, backends: server.backends, authorizer: server.authorizer },
    tls: { ...(await authority.server()), ca: authority.ca },
    authenticate: createAuthenticator({ clock: systemClock, tokens: [tokenFile(TOKENS)], anonymous: false }),
    ...{ log: silent, clock: systemClock, isReady: () => true },
    version: { major: '1', minor: '36', gitVersion: 'v1.36.0' } as HttpServerOptions['version'],
    // The sockets are reached through messages, as when they are in a separate thread.
    open: (listening) => {
      const { port1, port2 } = new MessageChannel();
      for (const each of [port1, port2]) each.unref();
      serveFront(port1, listening.clock);
      return remoteListeners(port2, listening);
    },
    ...options,
  });
  const { port } = await http.listen(0, '127.0.0.1');
  const directory = await mkdtemp(join(tmpdir(), 'streams-'));
  const kubeconfig = join(directory, 'kubeconfig');
  await writeFile(kubeconfig, JSON.stringify(configOf(port, authority.ca)));
  const write = (verb: 'create' | 'update', body: any, asked: object = {}) =>
    server.handle({ verb, apiVersion: 'v1', plural: 'pods', namespace: 'default', body, user: ADMIN, ...asked });
  return {
    ...{ server, port, ca: authority.ca, kubeconfig, directory },
    async createPod(name, spec = {}, status = {}) {
      const metadata = { name, namespace: 'default' };
      const pod = {
        ...{ apiVersion: 'v1', kind: 'Pod', metadata },
        spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'host', stdin: true }], ...spec },
        status: {
          ...{ phase: 'Running', podIP: '127.0.0.1', conditions: [{ type: 'Ready', status: 'True' }] },
          containerStatuses: [
            { name: 'c', ready: true, image: 'host', imageID: '', restartCount: 0, state: { running: {} } },
          ],
          ...status,
        },
      };
      await write('create', structuredClone(pod));
      await write('update', pod, { name, subresource: 'status' });
    },
    async stop() {
      await http.close();
      server.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

function configOf(port: number, ca: string) {
  const cluster = {
    server: `https://127.0.0.1:${port}`,
    'certificate-authority-data': Buffer.from(ca).toString('base64'),
  };
  return {
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'test' },
    clusters: [{ name: 'test', cluster }],
    users: [{ name: 'admin', user: { token: 'admin' } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'admin' } }],
  };
}
