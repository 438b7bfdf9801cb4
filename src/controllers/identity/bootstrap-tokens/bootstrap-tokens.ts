/**
 * Publishes the address and the certificate authority of the cluster in the ConfigMap `cluster-info` of kube-public. Each
 * bootstrap token signs it, so that a machine that knows nothing but a token can verify it.
 */
import { createHmac } from 'node:crypto';
import type { DeepReadonly } from '../../../api/object-types.ts';
import { deepEqual } from '../../../base/json/tree.ts';
import { ConfigMap } from '../../../kinds/groups/core/configuration/config-map.ts';
import { Secret } from '../../../kinds/groups/core/configuration/secret.ts';
import { Namespace } from '../../../kinds/groups/core/namespace.ts';
import { type Controller, defineController, type Listers, related } from '../../loop/define.ts';
import { create, type Plan, remove, requeueAfter, update } from '../../loop/plan.ts';

const PUBLIC = 'kube-public';
const NAME = 'cluster-info';
const SIGNATURE = 'jws-kubeconfig-';

export interface ClusterInfoOptions {
  /** The URL at which machines reach the server. */
  readonly server: string;
  /** PEM. */
  readonly authority: string;
}

export function clusterInfoController(options: ClusterInfoOptions): Controller {
  return defineController({
    name: 'cluster-info',
    account: 'bootstrap-signer',
    watches: Namespace,
    also: [
      {
        ...related(ConfigMap, () => [PUBLIC]),
        selection: { namespace: PUBLIC, fieldSelector: `metadata.name=${NAME}` },
      },
      related(Secret, (secret) => (isBootstrapSecret(secret) ? [PUBLIC] : [])),
    ],
    plan: (namespace, world, now) => planClusterInfo(namespace, world, { ...options, now: now.getTime() }),
  });
}

export function planClusterInfo(
  namespace: DeepReadonly<Namespace> | undefined,
  world: Listers,
  options: ClusterInfoOptions & { readonly now: number },
): Plan {
  if (namespace?.metadata.name !== PUBLIC || namespace.metadata.deletionTimestamp) return [];
  const found = world.of(ConfigMap).get(NAME, PUBLIC);
  const kubeconfig = kubeconfigOf(options);
  const data: Record<string, string> = { kubeconfig };
  for (const secret of world.of(Secret).list(NAMESPACE)) {
    const token = isBootstrapSecret(secret) ? signingPart(secret, options.now) : undefined;
    if (token) data[`${SIGNATURE}${token.id}`] = detachedSignature(kubeconfig, token);
  }
  if (!found) return [create(ConfigMap, { metadata: { name: NAME, namespace: PUBLIC }, data })];
  const others = Object.entries(found.data ?? {}).filter(([key]) => key !== 'kubeconfig' && !key.startsWith(SIGNATURE));
  const wanted = { ...Object.fromEntries(others), ...data };
  if (found.metadata.deletionTimestamp || found.immutable || deepEqual(found.data, wanted)) return [];
  return [update(ConfigMap, { ...found, data: wanted })];
}

/** Returns a kubeconfig without a user. */
function kubeconfigOf({ server, authority }: ClusterInfoOptions): string {
  return `apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: ${Buffer.from(authority).toString('base64')}
    server: ${server}
  name: ""
contexts: null
current-context: ""
kind: Config
preferences: {}
users: null
`;
}

/** Returns a JWS (HS256) with detached content. */
export function detachedSignature(content: string, { id, secret }: { id: string; secret: string }): string {
  const head = base64url(JSON.stringify({ alg: 'HS256', kid: id }));
  const signature = createHmac('sha256', secret)
    .update(`${head}.${base64url(content)}`)
    .digest('base64url');
  return `${head}..${signature}`;
}

const base64url = (text: string) => Buffer.from(text).toString('base64url');

const NAMESPACE = 'kube-system';
const TYPE = 'bootstrap.kubernetes.io/token';
const PREFIX = 'bootstrap-token-';

type ReadSecret = DeepReadonly<Secret>;

function isBootstrapSecret({ type, metadata }: ReadSecret): boolean {
  return type === TYPE && metadata.namespace === NAMESPACE;
}

/** Returns when the token expires; infinity without an expiration. An unreadable time has passed. */
function expiryOf(secret: ReadSecret): number {
  const text = textOf(secret, 'expiration');
  if (text === '') return Number.POSITIVE_INFINITY;
  const time = Date.parse(text);
  return Number.isNaN(time) ? 0 : time;
}

/** Returns the token if it may be used for signing. */
function signingPart(secret: ReadSecret, now: number): { id: string; secret: string } | undefined {
  const id = textOf(secret, 'token-id');
  const part = textOf(secret, 'token-secret');
  const isGood =
    !secret.metadata.deletionTimestamp &&
    secret.metadata.name === `${PREFIX}${id}` &&
    id !== '' &&
    part !== '' &&
    now < expiryOf(secret) &&
    textOf(secret, 'usage-bootstrap-signing') === 'true';
  return isGood ? { id, secret: part } : undefined;
}

function textOf({ data }: ReadSecret, key: string): string {
  return Buffer.from(data?.[key] ?? '', 'base64').toString('utf8');
}

export const tokenCleaningController: Controller = defineController({
  name: 'token-cleaning',
  account: 'token-cleaner',
  watches: Namespace,
  also: [related(Secret, (secret) => (isBootstrapSecret(secret) ? [NAMESPACE] : []))],
  plan: (namespace, world, now) => planTokenCleaning(namespace, world, now.getTime()),
});

export function planTokenCleaning(namespace: DeepReadonly<Namespace> | undefined, world: Listers, now: number): Plan {
  if (namespace?.metadata.name !== NAMESPACE) return [];
  const secrets = world
    .of(Secret)
    .list(NAMESPACE)
    .filter((secret) => isBootstrapSecret(secret) && !secret.metadata.deletionTimestamp);
  const over = secrets.filter((secret) => expiryOf(secret) <= now);
  const next = Math.min(...secrets.map(expiryOf).filter((expiry) => expiry > now));
  return [
    ...over.map((secret) => remove(Secret, secret)),
    ...(Number.isFinite(next) ? [requeueAfter(next - now)] : []),
  ];
}
