/** Publishes the cluster's certificate authority in every namespace, so that pods can verify the server. */

import type { DeepReadonly } from '../../../api/object-types.ts';
import { deepEqual } from '../../../base/json/tree.ts';
import { ConfigMap } from '../../../kinds/groups/core/configuration/config-map.ts';
import { Namespace } from '../../../kinds/groups/core/namespace.ts';
import { type Controller, defineController, type Listers, related } from '../../loop/define.ts';
import { create, type Plan, remove, update } from '../../loop/plan.ts';

const NAME = 'kube-root-ca.crt';
const DESCRIPTION = 'kubernetes.io/description';
const ABOUT = 'The authority that signed the certificate of this cluster: with it, programs in pods verify the server.';

export function rootCaController(authority: string): Controller {
  return defineController({
    name: 'root-ca',
    account: 'root-ca-cert-publisher',
    watches: Namespace,
    also: [
      {
        ...related(ConfigMap, ({ metadata }) => [metadata.namespace ?? '']),
        selection: { fieldSelector: `metadata.name=${NAME}` },
      },
    ],
    plan: (namespace, world) => planRootCa(namespace, world, authority),
  });
}

export function planRootCa(
  namespace: DeepReadonly<Namespace> | undefined,
  world: Listers,
  /** PEM. */
  authority: string,
): Plan {
  if (!namespace || namespace.metadata.deletionTimestamp) return [];
  const data = { 'ca.crt': authority };
  const found = world.of(ConfigMap).get(NAME, namespace.metadata.name);
  if (!found) {
    const metadata = { name: NAME, namespace: namespace.metadata.name, annotations: { [DESCRIPTION]: ABOUT } };
    return [create(ConfigMap, { metadata, data })];
  }
  // While it is being deleted, it is published again once it is gone.
  if (found.metadata.deletionTimestamp) return [];
  if (deepEqual(found.data, data) && !found.binaryData) return [];
  if (found.immutable) return [remove(ConfigMap, found)];
  const { binaryData: _, ...rest } = found;
  return [update(ConfigMap, { ...rest, data })];
}
