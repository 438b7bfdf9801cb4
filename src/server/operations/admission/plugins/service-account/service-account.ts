import { getOrInsert } from '../../../../../base/collections/get-or-insert.ts';
import { memoized } from '../../../../../base/collections/memoized.ts';
import { deepFreeze } from '../../../../../base/json/tree.ts';
import { nameSuffix } from '../../../../../base/random.ts';
import { Pod } from '../../../../../kinds/groups/core/pod/pod.ts';
import { ServiceAccount } from '../../../../../kinds/groups/core/service-account.ts';
import { MIRROR } from '../../../../../kinds/shapes/pod/pod-annotations.ts';
import type { PodSpec } from '../../../../../kinds/shapes/pod/pod-spec.ts';
import { type AdmissionRequest, rejected } from '../../../../objects/admission/request.ts';
import type { Reader, Tools } from '../../../../objects/ports.ts';
import { freshObjectNamed, objectNamed } from '../../../../objects/reads/lookup.ts';
import type { AdmissionPlugin } from '../../plugin.ts';
import { mountableSecretsProblem, referencesSecrets } from './pod-secrets.ts';

type Ports = Pick<Reader, 'cache'> & Pick<Tools, 'clock' | 'random'>;

const DEFAULT_ACCOUNT = 'default';
const ENFORCE_MOUNTABLE = 'kubernetes.io/enforce-mountable-secrets';
const MOUNT_PATH = '/var/run/secrets/kubernetes.io/serviceaccount';
const VOLUME_PREFIX = 'kube-api-access-';

/** Time for which the create of a pod waits for the default account of a new namespace. */
const DEFAULT_ACCOUNT_TIMEOUT_MS = 1500;

/** The volume with the token, the CA certificate of the server and the namespace. All pods share it. */
const CREDENTIALS = deepFreeze({
  sources: [
    // An expiration of an hour and seven seconds identifies mounted tokens.
    { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
    { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
    {
      downwardAPI: {
        items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
      },
    },
  ],
  defaultMode: 0o644,
});

/** Sets the service account of a pod, and mounts the account's credentials into its containers. */
export const serviceAccount: AdmissionPlugin = {
  name: 'ServiceAccount',
  keepsDefaults: true,

  handles(kind, operation, subresource) {
    if (kind !== Pod) return false;
    return operation === 'CREATE' ? !subresource : operation === 'UPDATE' && subresource === 'ephemeralcontainers';
  },

  admit(core, request) {
    if (request.operation !== 'CREATE' || isMirror(request)) return undefined;
    const { spec } = request.object as Pod;
    if (!spec.serviceAccountName) {
      spec.serviceAccountName = DEFAULT_ACCOUNT;
      spec.serviceAccount = DEFAULT_ACCOUNT;
    }
    const account = objectNamed(core, ServiceAccount, request.namespace, spec.serviceAccountName);
    return account ? equip(core, spec, account) : waitFor(core, request, spec);
  },

  forget(object) {
    const { spec } = object as Pod;
    if (spec.serviceAccountName === DEFAULT_ACCOUNT) {
      delete spec.serviceAccountName;
      delete spec.serviceAccount;
    }
    unmountToken(spec);
  },

  validate(core, request) {
    const { spec } = request.object as Pod;
    if (isMirror(request)) return checkMirror(request, spec);
    const { serviceAccountName: name = '' } = spec;
    const account = objectNamed(core, ServiceAccount, request.namespace, name);
    if (!account) throw noAccount(request, name);
    if (!isTrue(account.metadata.annotations?.[ENFORCE_MOUNTABLE])) return;
    const lists = request.operation === 'CREATE' ? (['init', 'main', 'pod'] as const) : (['ephemeral'] as const);
    const problem = mountableSecretsProblem(spec, account, lists);
    if (problem) throw rejected(request, problem);
  },
};

function isMirror({ object }: AdmissionRequest): boolean {
  return object?.metadata.annotations?.[MIRROR] !== undefined;
}

/** Checks mirror pods, which a node runs by itself: they must not depend on objects of the cluster. */
function checkMirror(request: AdmissionRequest, spec: PodSpec): void {
  if (spec.serviceAccountName) throw rejected(request, 'a mirror pod may not reference service accounts');
  if (referencesSecrets(spec)) throw rejected(request, 'a mirror pod may not reference secrets');
  const isProjected = spec.volumes?.some(({ projected }) =>
    projected?.sources?.some(({ serviceAccountToken }) => serviceAccountToken),
  );
  if (isProjected) throw rejected(request, 'a mirror pod may not use ServiceAccountToken volume projections');
}

async function waitFor(core: Ports, request: AdmissionRequest, spec: PodSpec): Promise<void> {
  const { namespace } = request;
  const name = spec.serviceAccountName ?? '';
  let account = await freshObjectNamed(core, ServiceAccount, namespace, name);
  // A controller creates the default account right after the namespace.
  if (!account && name === DEFAULT_ACCOUNT) account = await appearing(core, namespace);
  if (!account) throw noAccount(request, name);
  equip(core, spec, account);
}

function appearing(core: Ports, namespace: string): Promise<ServiceAccount | undefined> {
  const { listeners } = core.cache.table(ServiceAccount);
  return new Promise((resolve) => {
    const done = () => {
      listeners.delete(look);
      timer.cancel();
      resolve(objectNamed(core, ServiceAccount, namespace, DEFAULT_ACCOUNT));
    };
    const look = ({ at }: { at: { namespace: string; name: string } }) => {
      if (at.namespace === namespace && at.name === DEFAULT_ACCOUNT) done();
    };
    listeners.add(look);
    const timer = core.clock.timer(DEFAULT_ACCOUNT_TIMEOUT_MS, done);
  });
}

function noAccount(request: AdmissionRequest, name: string): Error {
  const why = `serviceaccount ${JSON.stringify(name)} not found`;
  return rejected(request, `error looking up service account ${request.namespace}/${name}: ${why}`);
}

function equip(core: Ports, spec: PodSpec, account: ServiceAccount): void {
  if (spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true) {
    mountToken(spec, volumeNameOf(core, account));
  }
  if (!spec.imagePullSecrets?.length && account.imagePullSecrets?.length) {
    spec.imagePullSecrets = account.imagePullSecrets.map((each) => ({ ...each }));
  }
}

/** Volume names by cache: forks of a test cluster share accounts, and each generates its own names. */
const volumeNames = memoized((_cache: Ports['cache']) => new WeakMap<ServiceAccount, string>());

/** Returns the volume name of an account: one for all its pods, so that pods of one template can share their spec. */
function volumeNameOf({ cache, random }: Ports, account: ServiceAccount): string {
  const known = volumeNames(cache);
  return getOrInsert(known, account, () => VOLUME_PREFIX + nameSuffix(random));
}

function mountToken(spec: PodSpec, ownName: string): void {
  // Volumes without a name are rejected later.
  const present = spec.volumes?.find(({ name }: { name?: string }) => name?.startsWith(VOLUME_PREFIX))?.name;
  const name = present ?? ownName;
  let isNeeded = false;
  for (const list of [spec.initContainers, spec.containers]) {
    for (const container of list ?? []) {
      const { volumeMounts = [] } = container;
      // A container that mounts something else at the path gets no token.
      if (volumeMounts.some(({ mountPath }) => mountPath === MOUNT_PATH)) continue;
      container.volumeMounts = [...volumeMounts, { name, readOnly: true, mountPath: MOUNT_PATH }];
      isNeeded = true;
    }
  }
  if (!isNeeded || present !== undefined) return;
  spec.volumes = [...(spec.volumes ?? []), { name, projected: CREDENTIALS as never }];
}

/** Reverts mountToken: removes the volume, and the mounts that it added. */
function unmountToken(spec: PodSpec): void {
  const own = spec.volumes?.find(({ name, projected }) => {
    return name.startsWith(VOLUME_PREFIX) && projected?.sources?.some(({ serviceAccountToken }) => serviceAccountToken);
  });
  if (!own) return;
  spec.volumes = spec.volumes?.filter((volume) => volume !== own);
  if (!spec.volumes?.length) delete spec.volumes;
  for (const container of [...(spec.initContainers ?? []), ...spec.containers]) {
    const mounts = container.volumeMounts?.filter(({ name, mountPath }) => {
      return name !== own.name || mountPath !== MOUNT_PATH;
    });
    if (mounts?.length) container.volumeMounts = mounts;
    else delete container.volumeMounts;
  }
}

/** Parses a boolean as Go's strconv.ParseBool does. */
function isTrue(text: string | undefined): boolean {
  return text !== undefined && ['1', 't', 'T', 'true', 'TRUE', 'True'].includes(text);
}
