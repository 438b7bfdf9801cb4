/** What volumes read from the API, as the node. */
import { isApiError } from '../../base/errors.ts';
import type { Client } from '../../client/client.ts';
import { ConfigMap } from '../../kinds/groups/core/config-map.ts';
import { PersistentVolume } from '../../kinds/groups/core/persistent-volume/persistent-volume.ts';
import { PersistentVolumeClaim } from '../../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { Secret } from '../../kinds/groups/core/secret.ts';
import { ServiceAccount } from '../../kinds/groups/core/service-account.ts';
import { CSIDriver } from '../../kinds/groups/storage/csi-driver.ts';
import type { Images } from '../runtime/runtime.ts';
import type { IssuedToken, VolumesApi } from '../volumes/api.ts';

export function volumesApi(client: Client, images: () => Pick<Images, 'find' | 'pull'>): VolumesApi {
  return {
    configMap: (namespace, name) => ifThere(client.of(ConfigMap).in(namespace).get(name)),
    secret: (namespace, name) => ifThere(client.of(Secret).in(namespace).get(name)),
    claim: (namespace, name) => ifThere(client.of(PersistentVolumeClaim).in(namespace).get(name)),
    persistentVolume: (name) => ifThere(client.of(PersistentVolume).get(name)),
    csiDriver: (name) => ifThere(client.of(CSIDriver).get(name)),
    async createToken(namespace, account, { audiences, expirationSeconds, boundPod }) {
      const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', ...boundPod };
      const body = {
        ...{ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest' },
        spec: { audiences, expirationSeconds, boundObjectRef },
      };
      const answer = await client.of(ServiceAccount).in(namespace).subresource(account, 'token').create(body);
      return answer.status as IssuedToken;
    },
    async pullImage(_pod, reference, policy) {
      const present = policy === 'Always' ? undefined : await images().find(reference);
      if (present) return present.id;
      if (policy === 'Never') throw new Error(`image "${reference}" is not present with pull policy of Never`);
      return images().pull(reference, undefined);
    },
  };
}

async function ifThere<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    if (isApiError(error, 'NotFound')) return undefined;
    throw error;
  }
}
