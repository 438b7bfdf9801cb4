/** The audiences for which a node may request tokens: those that the pod, or a CSI driver of its volumes, requests. */
import type { TokenRequest } from '../../../../../kinds/groups/access/authentication/token-request.ts';
import { PersistentVolume } from '../../../../../kinds/groups/core/persistent-volume/persistent-volume.ts';
import { PersistentVolumeClaim } from '../../../../../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import type { Pod } from '../../../../../kinds/groups/core/pod/pod.ts';
import { CSIDriver } from '../../../../../kinds/groups/storage/csi-driver.ts';
import type { Kind, KubeObject } from '../../../../../kinds/kind.ts';
import type { Access } from '../../../../access/ports.ts';
import { type AdmissionRequest, rejected } from '../../../../objects/admission/request.ts';
import type { Reader } from '../../../../objects/ports.ts';

type Ports = Pick<Reader, 'cache'> & Pick<Access, 'authorizer' | 'tokenIssuer'>;

export async function checkAudience(core: Ports, request: AdmissionRequest, pod: Pod): Promise<void> {
  const { user, namespace, name } = request;
  const requested: readonly string[] = (request.object as TokenRequest).spec.audiences ?? [];
  const own = core.tokenIssuer?.audiences ?? [];
  // The server's own audiences have been filled in if the node requested none.
  const isDefault = requested.length === own.length && requested.every((audience) => own.includes(audience));
  if (requested.length > 1 && !isDefault) throw rejected(request, 'node may only request 0 or 1 audiences');
  const [named = ''] = requested;
  if (audiencesOf(core, pod).some((audience) => audience === named || (isDefault && audience === ''))) return;
  const audience = isDefault ? '' : named;
  const decision = await core.authorizer.authorize({
    user,
    verb: 'request-serviceaccounts-token-audience',
    group: '',
    version: 'v1',
    resource: audience,
    subresource: '',
    namespace,
    name,
  });
  if (decision.verdict === 'allow') return;
  throw rejected(
    request,
    `audience ${JSON.stringify(audience)} not found in pod spec volume, ${user.name} is not authorized to request tokens for this audience`,
  );
}

/** Returns the audiences that volumes of the pod name; the empty one stands for the server. */
function audiencesOf(core: Ports, pod: Pod): string[] {
  return (pod.spec.volumes ?? []).flatMap((volume) => {
    const projected = (volume.projected?.sources ?? []).flatMap(({ serviceAccountToken }) =>
      serviceAccountToken ? [serviceAccountToken.audience ?? ''] : [],
    );
    const driver = driverOf(core, pod.metadata, volume);
    const requests = driver ? (read(core, CSIDriver, '', driver)?.spec.tokenRequests ?? []) : [];
    return [...projected, ...requests.map(({ audience }) => audience ?? '')];
  });
}

type Volume = NonNullable<Pod['spec']['volumes']>[number];

function driverOf(core: Ports, { name, namespace = '' }: Pod['metadata'], volume: Volume): string | undefined {
  if (volume.csi) return volume.csi.driver;
  const claim = volume.ephemeral ? `${name}-${volume.name}` : volume.persistentVolumeClaim?.claimName;
  if (!claim) return undefined;
  const bound = read(core, PersistentVolumeClaim, namespace, claim)?.spec?.volumeName;
  return bound ? read(core, PersistentVolume, '', bound)?.spec?.csi?.driver : undefined;
}

function read<T extends KubeObject>(core: Ports, kind: Kind<T>, namespace: string, name: string): T | undefined {
  return core.cache.table(kind).get(namespace, name)?.hub(kind);
}
