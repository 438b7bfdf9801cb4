/** Serves a test cluster over TLS on loopback, so that clients in any language can join it. */
import { createPublicKey } from 'node:crypto';
import { silent } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { Clock } from '../../base/time/clock.ts';
import { systemClock } from '../../base/time/clock.ts';
import { HISTORY_PATH } from '../../client/history-path.ts';
import { createAuthenticator, createIdentify } from '../../server/access/authn/authenticator.ts';
import { bootstrapTokens } from '../../server/access/authn/bootstrap-token.ts';
import { ServiceAccountTokens } from '../../server/access/authn/service-account-tokens.ts';
import type { Server } from '../../server/index.ts';
import { createHttpServer } from '../../server/serving/http/server.ts';
import { type ClusterKeys, issueLeaf, TOKEN_ISSUER } from './keys.ts';

const HOST = '127.0.0.1';
const SERVER = { commonName: 'kube-apiserver' };
const ADMIN = { commonName: 'kubernetes-admin', organization: 'system:masters' };

/** The answer to `/version`. */
const VERSION = {
  ...{ major: '1', minor: '36', gitVersion: 'v1.36.4+quarterdeck', gitCommit: '', gitTreeState: 'clean' },
  ...{ buildDate: '1970-01-01T00:00:00Z', goVersion: 'node', compiler: 'v8', platform: 'test' },
};

export interface ServedApi {
  /** For an administrator. */
  readonly kubeconfig: string;
  close(): Promise<void>;
}

interface ServeOptions {
  readonly server: Server;
  readonly keys: ClusterKeys;
  /** The cluster's. */
  readonly clock: Clock;
  readonly random: Random;
}

export async function serve({ server, keys, clock, random }: ServeOptions): Promise<ServedApi> {
  const { handle, registry, backends, authorizer, find } = server;
  const audiences = [TOKEN_ISSUER];
  const tokens = [
    bootstrapTokens({ find, clock }),
    new ServiceAccountTokens({ keys: [createPublicKey(keys.tokenKey())], issuers: audiences, audiences, clock, find }),
  ];
  server.identifyBy(createIdentify(tokens, audiences));
  const serving = issueLeaf(keys, random, { subject: SERVER, usage: 'server', names: [HOST, 'localhost'] });
  const http = createHttpServer({
    ...{ handle, registry, backends, authorizer, log: silent, version: VERSION, isReady: () => true },
    documents: [historyDocument(server)],
    // Connections belong to the machine; requests read the cluster's time.
    clock: systemClock,
    tls: { ...serving, ca: keys.certificate },
    authenticate: createAuthenticator({ clock, tokens, anonymous: true }),
  });
  const { port } = await http.listen(0, HOST);
  const admin = issueLeaf(keys, random, { subject: ADMIN, usage: 'client' });
  return {
    kubeconfig: kubeconfigOf({ server: `https://${HOST}:${port}`, ca: keys.certificate, ...admin }),
    close: () => http.close(),
  };
}

/** Read anew for each request. */
function historyDocument(server: Server) {
  return {
    path: HISTORY_PATH,
    type: 'application/json',
    get content() {
      return server.history();
    },
  };
}

interface Access {
  readonly server: string;
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

function kubeconfigOf({ server, ca, cert, key }: Access): string {
  return `apiVersion: v1
kind: Config
clusters:
- cluster:
    certificate-authority-data: ${base64(ca)}
    server: ${server}
  name: test
contexts:
- context:
    cluster: test
    user: test
  name: test
current-context: test
users:
- name: test
  user:
    client-certificate-data: ${base64(cert)}
    client-key-data: ${base64(key)}
`;
}

function base64(pem: string): string {
  return Buffer.from(pem).toString('base64');
}
