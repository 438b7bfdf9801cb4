/** Tells the server which node a pod got; before that, which volumes its claims get. */
import { type Clock, sleep } from '../base/clock.ts';
import type { Client } from '../client/client.ts';
import type { Lister } from '../client/object-cache.ts';
import { PersistentVolume } from '../kinds/core/persistent-volume.ts';
import { PersistentVolumeClaim } from '../kinds/core/persistent-volume-claim.ts';
import { Pod as PodKind } from '../kinds/core/pod.ts';
import type { PodInfo } from './cluster/pod-info.ts';
import { isBound, SELECTED_NODE, type VolumePlan } from './cluster/storage.ts';
import type { Claim } from './objects.ts';

export interface BindingOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly claims: ClaimWaits;
}

/** What an informer of claims does here. */
interface ClaimWaits {
  until(condition: (lister: Lister<PersistentVolumeClaim>) => boolean, signal?: AbortSignal): Promise<void>;
}

/** How long volumes may take until the pod is tried elsewhere. */
const PATIENCE = 600_000;

export async function bind(pod: PodInfo, nodeName: string, { client, signal }: BindingOptions): Promise<void> {
  const { name, namespace, uid } = pod;
  const binding = client.of(PodKind).in(namespace).subresource(name, 'binding');
  const body = { apiVersion: 'v1', kind: 'Binding', metadata: { name, namespace, uid } };
  await binding.create({ ...body, target: { apiVersion: 'v1', kind: 'Node', name: nodeName } }, { signal });
}

/** Resolves when all claims of the plan are bound. */
export async function bindVolumes(plan: VolumePlan, nodeName: string, options: BindingOptions): Promise<void> {
  const { client, signal } = options;
  for (const { volume, claim } of plan.bind) {
    const { name, namespace, uid, resourceVersion } = claim.metadata;
    const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', name, namespace, uid, resourceVersion };
    const annotations = { 'pv.kubernetes.io/bound-by-controller': 'yes' };
    const metadata = { annotations, resourceVersion: volume.metadata.resourceVersion };
    const changes = { metadata, spec: { claimRef } };
    await client.of(PersistentVolume).patch(volume.metadata.name ?? '', { type: 'merge', changes }, { signal });
  }
  for (const { metadata } of plan.provision) {
    const { name = '', namespace, uid, resourceVersion } = metadata;
    const changes = { metadata: { uid, resourceVersion, annotations: { [SELECTED_NODE]: nodeName } } };
    await client.of(PersistentVolumeClaim).in(namespace).patch(name, { type: 'merge', changes }, { signal });
  }
  await allBound([...plan.bind.map(({ claim }) => claim), ...plan.provision], plan, options);
}

async function allBound(wanted: readonly Claim[], plan: VolumePlan, options: BindingOptions): Promise<void> {
  const { clock, claims, signal } = options;
  const stop = new AbortController();
  const end = () => stop.abort(signal.reason);
  signal.addEventListener('abort', end, { once: true });
  let failure: string | undefined;
  try {
    const bound = claims.until((lister) => {
      failure = problemWith(wanted, plan, lister);
      return failure !== undefined || wanted.every((claim) => isBoundNow(claim, lister));
    }, stop.signal);
    const tooLong = sleep(clock, PATIENCE, stop.signal).then(() => {
      failure = 'timed out waiting for volumes to be bound';
    });
    await Promise.race([bound, tooLong]);
    signal.throwIfAborted();
  } finally {
    signal.removeEventListener('abort', end);
    stop.abort();
  }
  if (failure) throw new Error(`binding volumes: ${failure}`);
}

function isBoundNow({ metadata }: Claim, lister: Lister<PersistentVolumeClaim>): boolean {
  const now = lister.get(metadata.name ?? '', metadata.namespace);
  return now !== undefined && isBound(now);
}

/** A claim that is gone, or that its provisioner has given back. */
function problemWith(
  wanted: readonly Claim[],
  { provision }: VolumePlan,
  lister: Lister<PersistentVolumeClaim>,
): string | undefined {
  for (const claim of wanted) {
    const { name = '', namespace, uid, resourceVersion } = claim.metadata;
    const now = lister.get(name, namespace);
    if (!now || now.metadata.uid !== uid) return `persistentvolumeclaim "${name}" not found`;
    // What the cache had before the write is not yet an answer to it.
    const isNewer = now.metadata.resourceVersion !== resourceVersion;
    if (isNewer && provision.includes(claim) && !isBound(now) && !now.metadata.annotations?.[SELECTED_NODE]) {
      return `selectedNode annotation reset for PVC "${name}"`;
    }
  }
  return undefined;
}
