/** Serves a test cluster over TLS on loopback, so that clients in any language can join it. */
import { Cleanup } from '../../assembly/cleanup.ts';
import { serveHttps } from '../../assembly/control-plane/https.ts';
import { render } from '../../assembly/rendered-kubeconfig.ts';
import { silent } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import { systemClock } from '../../base/time/clock.ts';
import type { Server } from '../../server/index.ts';
import { type ClusterKeys, issueLeaf } from './keys.ts';

const HOST = '127.0.0.1';
const SERVER = { commonName: 'kube-apiserver' };
const ADMIN = { commonName: 'kubernetes-admin', organization: 'system:masters' };

/** The answer to `/version`. */
const VERSION = {
  major: '1',
  minor: '36',
  gitVersion: 'v1.36.4+quarterdeck',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: 'node',
  compiler: 'v8',
  platform: 'test',
};

export interface ServedApi {
  /** For an administrator. */
  readonly kubeconfig: string;
  close(): Promise<void>;
}

interface ServeOptions {
  readonly server: Server;
  readonly keys: ClusterKeys;
  readonly random: Random;
}

export async function serve({ server, keys, random }: ServeOptions): Promise<ServedApi> {
  const cleanup = new Cleanup();
  const serving = issueLeaf(keys, random, { subject: SERVER, usage: 'server', names: [HOST, 'localhost'] });
  const { urls } = await serveHttps({
    server,
    cleanup,
    log: silent,
    version: VERSION,
    isReady: () => true,
    listeners: [{ host: HOST, port: 0 }],
    trees: [server.history],
    // Connections belong to the machine; requests read the cluster's time.
    clock: systemClock,
    tls: { ...serving, ca: keys.certificate },
  });
  const admin = issueLeaf(keys, random, { subject: ADMIN, usage: 'client' });
  return {
    kubeconfig: render({ name: 'test', server: urls[0], servers: [], ca: keys.certificate, ...admin }),
    close: () => cleanup.run(),
  };
}
