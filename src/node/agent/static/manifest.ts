/** Reads a static pod from the text of a file. */

import { createHash } from 'node:crypto';
import { isTree } from '../../../base/json/tree.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { fillPodDefaults } from '../../../kinds/groups/core/pod/pod-defaults.ts';
import { validateObjectMeta } from '../../../kinds/shapes/meta/object-meta-rules.ts';
import { decode } from '../../../schema/decode/decode.ts';
import { under } from '../../../schema/field-error.ts';
import { dnsSubdomain, nameRule } from '../../../schema/names.ts';
import { validate } from '../../../schema/validate.ts';
import { CONFIG_HASH, CONFIG_SEEN, CONFIG_SOURCE, FROM_FILE } from '../../admission/critical.ts';
import type { SeenPod } from '../../pod/container-run.ts';

export interface ManifestFile {
  /** Absolute. */
  readonly path: string;
  readonly text: string;
  /** The name of the node. */
  readonly node: string;
  /** When the file was seen, RFC 3339. */
  readonly seen: string;
}

/** Throws an error that says what is wrong with the file. */
export async function readManifest({ path, text, node, seen }: ManifestFile): Promise<SeenPod> {
  const tree = await parse(text);
  const { apiVersion, kind } = isTree(tree) ? tree : {};
  if (apiVersion !== 'v1' || kind !== 'Pod') {
    throw new Error(`it is not a Pod: apiVersion is ${JSON.stringify(apiVersion)}, kind is ${JSON.stringify(kind)}`);
  }
  const unknown: string[] = [];
  const pod = decode(Pod.hub.schema, tree, { unknown: (field) => void unknown.push(field) });
  if (unknown.length > 0) throw new Error(`unknown field ${unknown.map((field) => JSON.stringify(field)).join(', ')}`);
  if (!pod.metadata.name) throw new Error('invalid pod: name is needed for the pod');
  fillPodDefaults(pod.spec);
  const uid = pod.metadata.uid ?? hashOf(pod, node, path);
  const annotations = { ...pod.metadata.annotations, [CONFIG_HASH]: uid };
  pod.metadata = {
    ...pod.metadata,
    name: `${pod.metadata.name}-${node.toLowerCase()}`,
    namespace: pod.metadata.namespace ?? 'default',
    uid,
    annotations,
  };
  pod.spec.nodeName = node;
  pod.spec.tolerations = [...(pod.spec.tolerations ?? []).filter((each) => !isForAll(each)), TOLERATE_ALL];
  pod.status = { phase: 'Pending' } as Pod['status'];
  check(pod);
  const reference = apiReference(pod as SeenPod);
  if (reference) throw new Error(`static pods may not reference ${reference}`);
  Object.assign(annotations, { [CONFIG_SEEN]: seen, [CONFIG_SOURCE]: FROM_FILE });
  return pod as SeenPod;
}

/** Static pods are not evicted when there are problems with the node. */
const TOLERATE_ALL = { operator: 'Exists', effect: 'NoExecute' } as const;

const isForAll = ({ key, operator, effect }: { key?: string; operator?: string; effect?: string }) =>
  !key && operator === TOLERATE_ALL.operator && effect === TOLERATE_ALL.effect;

/** JSON is YAML, too, and much faster to parse as what it is. */
async function parse(text: string): Promise<unknown> {
  if (text.trimStart().startsWith('{')) return JSON.parse(text);
  const yaml = await import('yaml');
  return yaml.parse(text, { version: '1.1', logLevel: 'error' });
}

/** Serves as the UID: the same file on the same node is the same pod, also after a restart of the agent. */
function hashOf(pod: Pod, node: string, path: string): string {
  const hash = createHash('sha256').update(JSON.stringify(pod));
  return hash.update(`\0host:${node}\0file:${path}`).digest('hex').slice(0, 32);
}

const podName = nameRule(dnsSubdomain);

/** Validates it as the server would on creation. */
function check(pod: Pod): void {
  const context = { operation: 'create', old: undefined, subresource: undefined, apiVersion: 'v1' } as const;
  const whole = { ...context, parent: undefined, root: pod, oldRoot: undefined, checked: undefined };
  const meta = validateObjectMeta(pod.metadata, {
    operation: 'create',
    old: undefined,
    nameRule: podName,
    namespaced: true,
  });
  const errors = [
    ...under('metadata', meta),
    ...validate(Pod.hub.schema, pod, whole as never),
    ...(Pod.rules ?? []).flatMap((rule) => rule(pod as never, whole as never)),
  ];
  if (errors.length === 0) return;
  throw new Error(`invalid pod: ${errors.map(({ field, message }) => `${field}: ${message}`).join(', ')}`);
}

type Volume = NonNullable<SeenPod['spec']['volumes']>[number];
type ProjectedSource = NonNullable<NonNullable<Volume['projected']>['sources']>[number];

/** Returns the resource that the pod refers to, in the words of kubelet; undefined when there is none. */
function apiReference({ spec }: SeenPod): string | undefined {
  if (spec.serviceAccountName) return 'serviceaccounts';
  if (spec.imagePullSecrets?.length) return 'secrets';
  const containers = [...(spec.initContainers ?? []), ...spec.containers];
  const sources = containers.flatMap(({ env = [], envFrom = [] }) => [
    ...envFrom.map(({ secretRef, configMapRef }) => ({ secret: secretRef, configMap: configMapRef })),
    ...env.map(({ valueFrom }) => ({ secret: valueFrom?.secretKeyRef, configMap: valueFrom?.configMapKeyRef })),
  ]);
  if (sources.some(({ secret }) => secret)) return 'secrets';
  if (sources.some(({ configMap }) => configMap)) return 'configmaps';
  if (spec.resourceClaims?.length) return 'resourceclaims';
  for (const volume of spec.volumes ?? []) {
    const found = referenceOfVolume(volume);
    if (found) return found;
  }
  return undefined;
}

function referenceOfVolume(volume: Volume): string | undefined {
  if (volume.configMap) return 'configmaps (via configmap volumes)';
  if (volume.secret) return 'secrets (via secret volumes)';
  if (volume.csi) return 'csidrivers (via CSI volumes)';
  if (volume.glusterfs) return 'endpoints (via glusterFS volumes)';
  if (volume.persistentVolumeClaim) return 'persistentvolumeclaims';
  if (volume.ephemeral) return 'persistentvolumeclaims (via ephemeral volumes)';
  if (volume.azureFile) return 'secrets (via azureFile volumes)';
  return volume.projected?.sources?.map(referenceOfSource).find((found) => found !== undefined);
}

function referenceOfSource(source: ProjectedSource): string | undefined {
  if (source.configMap) return 'configmaps (via projected volumes)';
  if (source.secret) return 'secrets (via projected volumes)';
  if (source.serviceAccountToken) return 'serviceaccounts (via projected volumes)';
  if (source.clusterTrustBundle) return 'clustertrustbundles';
  return source.podCertificate ? 'podcertificates' : undefined;
}
