/** The files of ConfigMap, Secret, downward API and projected volumes. */
import { metadataField } from '../../container/variables/downward-api.ts';
import { resourceField } from '../../container/variables/resource-field.ts';
import type { SeenPod } from '../../pod/container-run.ts';
import type { VolumesApi } from '../api.ts';
import { configMapPayload, type Payload, PayloadError, secretPayload } from './payload.ts';
import type { ServiceAccountTokens } from './service-account-tokens.ts';

type PodVolume = NonNullable<SeenPod['spec']['volumes']>[number];
type Projection = NonNullable<NonNullable<PodVolume['projected']>['sources']>[number];
type DownwardItems = NonNullable<PodVolume['downwardAPI']>['items'];

/** The ConfigMap with the cluster's certificate authority, which every namespace has. */
const ROOT_CA = 'kube-root-ca.crt';
const DEFAULT_MODE = 0o644;
const DEFAULT_TOKEN_SECONDS = 3600;

export interface SourceContext {
  readonly pod: SeenPod;
  readonly api: VolumesApi;
  readonly tokens: ServiceAccountTokens;
  readonly allocatable: Readonly<Record<string, string>>;
}

/** Files of a volume. */
export interface CollectedFiles {
  readonly payload: Payload;
  /** Time at which a token among them is to be renewed. */
  readonly renewAt: number | undefined;
}

/** `changing`: tokens, the CA and the downward API, which are refreshed in running pods; `configured`: all others. */
export type Part = 'all' | 'changing';

/** Reports whether the agent writes the files of this volume. */
export const isFileVolume = ({ configMap, secret, downwardAPI, projected }: PodVolume): boolean =>
  Boolean(configMap ?? secret ?? downwardAPI ?? projected);

/** Rejects with a message in kubelet's words. */
export async function collectFiles(volume: PodVolume, part: Part, context: SourceContext): Promise<CollectedFiles> {
  const { configMap, secret, downwardAPI, projected } = volume;
  const mode = (configMap ?? secret ?? downwardAPI ?? projected)?.defaultMode ?? DEFAULT_MODE;
  const sources: readonly Projection[] = projected
    ? (projected.sources ?? [])
    : [
        {
          ...(configMap ? { configMap } : {}),
          ...(secret ? { secret: { ...secret, name: secret.secretName } } : {}),
          ...(downwardAPI ? { downwardAPI } : {}),
        } as Projection,
      ];
  const payload: Payload = new Map();
  let renewAt: number | undefined;
  const wanted = sources.filter((source) => part !== 'changing' || isChanging(source));
  for (const files of await Promise.all(wanted.map((source) => filesOf(source, mode, context)))) {
    for (const [path, file] of files.payload) payload.set(path, file);
    if (files.renewAt !== undefined) renewAt = Math.min(renewAt ?? files.renewAt, files.renewAt);
  }
  return { payload, renewAt };
}

/** Reports whether something in the volume changes while the pod runs. */
export function hasChangingFiles({ downwardAPI, projected }: PodVolume): boolean {
  return Boolean(downwardAPI) || (projected?.sources ?? []).some(isChanging);
}

/** Reports whether the volume shows ConfigMaps or Secrets, which users may change. */
export function hasConfiguredFiles({ configMap, secret, projected }: PodVolume): boolean {
  return Boolean(configMap ?? secret) || (projected?.sources ?? []).some((source) => !isChanging(source));
}

const isChanging = ({ configMap, secret }: Projection): boolean => (configMap ? configMap.name === ROOT_CA : !secret);

async function filesOf(source: Projection, defaultMode: number, context: SourceContext): Promise<CollectedFiles> {
  const { configMap, secret, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate } = source;
  const { pod, api } = context;
  const namespace = pod.metadata.namespace ?? '';
  if (configMap) {
    const { name = '', items, optional = false } = configMap;
    const object = await api.configMap(namespace, name);
    if (!object && !optional) throw new PayloadError(`configmap "${name}" not found`);
    return constant(configMapPayload(object ?? {}, { items, optional, defaultMode }));
  }
  if (secret) {
    const { name = '', items, optional = false } = secret;
    const object = await api.secret(namespace, name);
    if (!object && !optional) throw new PayloadError(`secret "${name}" not found`);
    return constant(secretPayload(object ?? {}, { items, optional, defaultMode }));
  }
  if (downwardAPI) return constant(downwardPayload(downwardAPI.items, defaultMode, context));
  if (serviceAccountToken) {
    const { audience = '', expirationSeconds = DEFAULT_TOKEN_SECONDS, path } = serviceAccountToken;
    const { token, renewAt } = await context.tokens.get(pod, audience, expirationSeconds);
    return { payload: new Map([[path, { data: Buffer.from(token), ...privately(pod, defaultMode) }]]), renewAt };
  }
  if (clusterTrustBundle) return constant(await trustBundle(clusterTrustBundle, defaultMode, context));
  if (podCertificate) {
    throw new PayloadError('podCertificate sources are not supported: the server has no PodCertificateRequests');
  }
  return constant(new Map());
}

const constant = (payload: Payload): CollectedFiles => ({ payload, renewAt: undefined });

function downwardPayload(items: DownwardItems = [], defaultMode: number, { pod, allocatable }: SourceContext): Payload {
  const payload: Payload = new Map();
  for (const { path, fieldRef, resourceFieldRef, mode = defaultMode } of items) {
    const text = fieldRef
      ? metadataField(pod, fieldRef.fieldPath)
      : resourceFieldRef
        ? resourceField(resourceFieldRef, pod, undefined, allocatable)
        : '';
    payload.set(path, { data: Buffer.from(text), mode });
  }
  return payload;
}

async function trustBundle(
  { name, signerName, labelSelector, optional = false, path }: NonNullable<Projection['clusterTrustBundle']>,
  defaultMode: number,
  { pod, api }: SourceContext,
): Promise<Payload> {
  const selector = name === undefined ? { signerName: signerName ?? '', labelSelector } : { name };
  const bundles = await api.trustBundles(selector);
  if (!bundles.length && !optional) {
    throw new PayloadError(
      name === undefined
        ? `combination of signerName and labelSelector matched zero ClusterTrustBundles`
        : `clustertrustbundle "${name}" not found`,
    );
  }
  const text = uniqueCertificates(bundles).join('');
  return new Map([[path, { data: Buffer.from(text), ...privately(pod, defaultMode) }]]);
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** Returns each certificate once, in an order that does not depend on that of the bundles. */
function uniqueCertificates(bundles: readonly string[]): string[] {
  const found = bundles.flatMap((bundle) => bundle.match(CERTIFICATE) ?? []);
  return [...new Set(found.map((each) => `${each}\n`))].sort();
}

/**
 * Credentials are readable by the pod's only user, or by its group, and by others only if neither is known. The group is set
 * with those of the whole volume.
 */
function privately({ spec }: SeenPod, defaultMode: number): { mode: number; owner?: number } {
  const owner = onlyUser(spec);
  if (owner !== undefined) return { mode: 0o600, owner };
  return { mode: spec.securityContext?.fsGroup === undefined ? defaultMode : 0o600 };
}

/** Returns the user that all containers run as; undefined if they differ or name none. */
function onlyUser({ containers, initContainers = [], ephemeralContainers = [], securityContext }: SeenPod['spec']) {
  const users = [...containers, ...initContainers, ...ephemeralContainers].map(
    (each) => each.securityContext?.runAsUser ?? securityContext?.runAsUser,
  );
  return users.every((user) => user === users[0]) ? users[0] : undefined;
}
