/** API reads of volumes, as the node. */

import type { DeepReadonly } from '../../api/object-types.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { Client } from '../../client/client.ts';
import { ClusterTrustBundle } from '../../kinds/groups/access/certificates/cluster-trust-bundle.ts';
import { ConfigMap } from '../../kinds/groups/core/configuration/config-map.ts';
import { Secret } from '../../kinds/groups/core/configuration/secret.ts';
import { Node } from '../../kinds/groups/core/node/node.ts';
import { PersistentVolume } from '../../kinds/groups/core/persistent-volume/persistent-volume.ts';
import { PersistentVolumeClaim } from '../../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { ServiceAccount } from '../../kinds/groups/core/service-account.ts';
import { CSIDriver } from '../../kinds/groups/storage/csi-driver.ts';
import { VolumeAttachment } from '../../kinds/groups/storage/volume-attachment.ts';
import { type LabelSelector, selectorMatches } from '../../kinds/shapes/meta/label-selector.ts';
import type { SeenPod } from '../pod/container-run.ts';
import type { Images } from '../runtime/runtime.ts';
import type { IssuedToken, TrustBundleSelector, VolumesApi } from '../volumes/api.ts';
import { ImagePulls, type PullEvent } from './images/pull.ts';
import type { PullRecords } from './images/pull-records.ts';
import { VolumePulls } from './images/volume-pulls.ts';
import { addCsiDriver, removeCsiDriver } from './node/csi-node.ts';

export interface VolumesApiOptions {
  readonly nodeName: string;
  readonly images: () => Pick<Images, 'find' | 'pull'>;
  readonly pullRecords: PullRecords;
  readonly clock: Clock;
  /** Records an event about a pod. */
  readonly emit: (pod: SeenPod, event: PullEvent) => void;
}

export function volumesApi(client: Client, options: VolumesApiOptions): VolumesApi {
  const { nodeName, images, pullRecords, clock, emit } = options;
  const secret = (namespace: string, name: string) => client.of(Secret).in(namespace).find(name);
  let pulls: ImagePulls | undefined;
  const volumePulls = new VolumePulls({
    pulls: () => {
      pulls ??= new ImagePulls({ images: images(), records: pullRecords, clock });
      return pulls;
    },
    secret,
    clock,
    emit,
  });
  return {
    configMap: (namespace, name) => client.of(ConfigMap).in(namespace).find(name),
    secret,
    claim: (namespace, name) => client.of(PersistentVolumeClaim).in(namespace).find(name),
    persistentVolume: (name) => client.of(PersistentVolume).find(name),
    trustBundles: (selector) => trustBundles(client, selector),
    csiDriver: (name) => client.of(CSIDriver).find(name),
    csiDriverAdded: (driver) => addCsiDriver(client, nodeName, driver),
    csiDriverRemoved: (name) => removeCsiDriver(client, nodeName, name),
    volumeAttachment: (name) => client.of(VolumeAttachment).find(name),
    async reportVolumesInUse(names) {
      const changes = { status: { volumesInUse: names.length > 0 ? names : null } } as never;
      await client.of(Node).patchStatus(nodeName, { type: 'merge', changes });
    },
    claimExpanded: (claim, size) => claimExpanded(client, claim, size),
    async createToken(namespace, account, { audiences, expirationSeconds, boundPod }) {
      const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', ...boundPod };
      const body = {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: { audiences, expirationSeconds, boundObjectRef },
      };
      const answer = await client.of(ServiceAccount).in(namespace).subresource(account, 'token').create(body);
      return answer.status as IssuedToken;
    },
    pullImage: (pod, image, policy) => volumePulls.pull(pod, image, policy),
  };
}

/** A selector that is not given matches nothing, and an empty one everything, as with kubelet. */
async function trustBundles(client: Client, selector: TrustBundleSelector): Promise<readonly string[]> {
  if ('name' in selector) {
    const bundle = await client.of(ClusterTrustBundle).find(selector.name);
    return bundle ? [bundle.spec.trustBundle] : [];
  }
  const { signerName, labelSelector } = selector;
  if (!labelSelector) return [];
  const { items } = await client.of(ClusterTrustBundle).list({ fieldSelector: `spec.signerName=${signerName}` });
  const matching = items.filter(({ metadata }) =>
    selectorMatches(labelSelector as LabelSelector, metadata.labels ?? {}),
  );
  return matching.map(({ spec }) => spec.trustBundle);
}

async function claimExpanded(client: Client, claim: DeepReadonly<PersistentVolumeClaim>, size: string): Promise<void> {
  const { name = '', namespace = '' } = claim.metadata;
  const { allocatedResourceStatuses, conditions = [] } = claim.status;
  const others = conditions.filter(({ type }) => type !== 'FileSystemResizePending' && type !== 'Resizing');
  const changes = {
    status: {
      capacity: { storage: size },
      conditions: others.length > 0 ? others : null,
      ...(allocatedResourceStatuses?.storage === undefined ? {} : { allocatedResourceStatuses: { storage: null } }),
    },
  } as never;
  await client.of(PersistentVolumeClaim).in(namespace).patchStatus(name, { type: 'merge', changes });
}
