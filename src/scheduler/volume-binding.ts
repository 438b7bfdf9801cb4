/**
 * Binds the claims of a pod before the pod itself: writes which volumes they get, or for which node one is to be provisioned,
 * and waits until all of them have one that the node can reach.
 */

import { sleep } from '../base/time/clock.ts';
import type { ClientTools } from '../client/client.ts';
import type { Lister } from '../client/informer/object-cache.ts';
import { PersistentVolume } from '../kinds/groups/core/persistent-volume/persistent-volume.ts';
import { PersistentVolumeClaim } from '../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { BOUND_BY_CONTROLLER, isBound, isFor, SELECTED_NODE } from '../kinds/volumes/binding.ts';
import type { NodeInfo } from './cluster/node-info.ts';
import type { PodInfo } from './cluster/pod-info.ts';
import type { VolumePlan } from './cluster/storage.ts';
import type { Claim, Volume } from './objects.ts';
import { reachOf } from './plugins/volumes/volume-matching.ts';

export interface VolumeBinderOptions extends Pick<ClientTools, 'client' | 'clock'> {
  readonly claims: Waits<PersistentVolumeClaim>;
  readonly volumes: Waits<PersistentVolume>;
  readonly signal: AbortSignal;
}

/** The part of an informer that is needed here. */
interface Waits<T> {
  readonly lister: Lister<T>;
  until(condition: (lister: Lister<T>) => boolean, signal?: AbortSignal): Promise<void>;
}

/** Timeout for the volumes of a pod before it is retried elsewhere. */
const BIND_TIMEOUT_MS = 600_000;

export class VolumeBinder {
  readonly #under = new Map<string, AbortController>();

  constructor(private readonly options: VolumeBinderOptions) {}

  /** Resolves when all claims of the plan have volumes that the node can reach. Rejects when it is cancelled, too. */
  async bind(plan: VolumePlan, { uid }: PodInfo, node: NodeInfo): Promise<void> {
    const { signal } = this.options;
    signal.throwIfAborted();
    const stop = new AbortController();
    const end = () => stop.abort(signal.reason);
    signal.addEventListener('abort', end, { once: true });
    this.#under.set(uid, stop);
    try {
      await bindVolumes(plan, node, { ...this.options, signal: stop.signal });
    } finally {
      this.#under.delete(uid);
      signal.removeEventListener('abort', end);
      stop.abort();
    }
  }

  /** Stops waiting for the volumes of a pod that is gone. */
  cancel(uid: string): void {
    this.#under.get(uid)?.abort();
  }
}

async function bindVolumes(plan: VolumePlan, node: NodeInfo, options: VolumeBinderOptions): Promise<void> {
  const written: Written = { claims: new Map(), volumes: new Map() };
  for (const { volume, claim } of plan.bind) written.volumes.set(volume, await bindVolume(volume, claim, options));
  for (const claim of plan.provision) written.claims.set(claim, await selectNode(claim, node.name, options));
  await allBound({ plan, node, written }, options);
}

/** The versions of the writes. Older states in the caches do not count. */
interface Written {
  readonly claims: Map<Claim, number>;
  readonly volumes: Map<Volume, number>;
}

async function bindVolume(volume: Volume, claim: Claim, { client, signal }: VolumeBinderOptions): Promise<number> {
  const { name, namespace, uid, resourceVersion } = claim.metadata;
  if (isFor(volume, claim) && volume.spec.claimRef?.uid === uid) return versionOf(volume);
  const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', name, namespace, uid, resourceVersion };
  // A volume that a user reserved for the claim is not marked as bound by the controller.
  const annotations = isFor(volume, claim) ? {} : { [BOUND_BY_CONTROLLER]: 'yes' };
  const metadata = { annotations, resourceVersion: volume.metadata.resourceVersion };
  const patch = { type: 'merge', changes: { metadata, spec: { claimRef } } } as const;
  return versionOf(await client.of(PersistentVolume).patch(volume.metadata.name ?? '', patch, { signal }));
}

async function selectNode(claim: Claim, nodeName: string, { client, signal }: VolumeBinderOptions): Promise<number> {
  const { name = '', namespace, uid, resourceVersion, annotations } = claim.metadata;
  if (annotations?.[SELECTED_NODE] === nodeName) return versionOf(claim);
  const changes = { metadata: { uid, resourceVersion, annotations: { [SELECTED_NODE]: nodeName } } };
  return versionOf(
    await client.of(PersistentVolumeClaim).in(namespace).patch(name, { type: 'merge', changes }, { signal }),
  );
}

const versionOf = ({ metadata }: Claim | Volume) => Number(metadata.resourceVersion);

type State = { readonly type: 'waits' | 'done' } | { readonly type: 'failed'; readonly why: string };

const WAITING: State = { type: 'waits' };
const DONE: State = { type: 'done' };
const failed = (why: string): State => ({ type: 'failed', why });

/** The signal is aborted when this has ended, so that no wait remains. */
async function allBound(check: Check, { clock, claims, volumes, signal }: VolumeBinderOptions): Promise<void> {
  let state = WAITING;
  const look = () => {
    state = stateOf(check, { claims: claims.lister, volumes: volumes.lister });
    return state.type !== 'waits';
  };
  const late = () => {
    state = failed('context deadline exceeded');
  };
  const timeout = sleep(clock, BIND_TIMEOUT_MS, signal).then(late);
  await Promise.race([claims.until(look, signal), volumes.until(look, signal), timeout]);
  if (state.type === 'failed') throw new Error(`binding volumes: ${state.why}`);
}

interface Check {
  readonly plan: VolumePlan;
  readonly node: NodeInfo;
  readonly written: Written;
}

interface Caches {
  readonly claims: Lister<PersistentVolumeClaim>;
  readonly volumes: Lister<PersistentVolume>;
}

function stateOf({ plan, node, written }: Check, caches: Caches): State {
  if (!node.node) return failed(`failed to get node "${node.name}": node "${node.name}" not found`);
  let state = DONE;
  const note = (next: State) => {
    if (state.type === 'done' || (state.type === 'waits' && next.type === 'failed')) state = next;
  };
  for (const { claim, volume } of plan.bind) note(stateOfBinding({ claim, volume }, written, caches));
  for (const claim of plan.provision) note(stateOfProvisioning(claim, { node, written }, caches));
  const all = [...plan.bind.map(({ claim }) => claim), ...plan.provision];
  for (const claim of all) note(stateOfClaim(claim, node, caches));
  return state;
}

/** Checks that the volume is still bound to the claim. */
function stateOfBinding({ claim, volume }: VolumePlan['bind'][number], written: Written, { volumes }: Caches): State {
  const { name = '' } = volume.metadata;
  const now = volumes.get(name);
  if (!now) return failed(`failed to check binding: persistentvolume "${name}" not found`);
  if (versionOf(now) < (written.volumes.get(volume) ?? 0)) return WAITING;
  return now.spec.claimRef?.uid === claim.metadata.uid ? DONE : failed(`ClaimRef got reset for pv "${name}"`);
}

/** Checks that the claim is still being provisioned. A provisioner that cannot help resets the claim. */
function stateOfProvisioning(claim: Claim, { node, written }: Omit<Check, 'plan'>, { claims }: Caches): State {
  const { name = '', namespace } = claim.metadata;
  const now = claims.get(name, namespace);
  if (!now || versionOf(now) < (written.claims.get(claim) ?? 0)) return WAITING;
  const isOurs = now.metadata.annotations?.[SELECTED_NODE] === node.name;
  return isOurs ? DONE : failed(`provisioning failed for PVC "${name}"`);
}

function stateOfClaim({ metadata }: Claim, node: NodeInfo, { claims, volumes }: Caches): State {
  const { name = '', namespace, uid } = metadata;
  const now = claims.get(name, namespace);
  if (now?.metadata.uid !== uid) return failed(`failed to check binding: persistentvolumeclaim "${name}" not found`);
  const volume = now?.spec.volumeName ? volumes.get(now.spec.volumeName) : undefined;
  if (!volume) return WAITING;
  if (!reachOf(volume)(node)) {
    const names = `pv "${volume.metadata.name}" node affinity doesn't match node "${node.name}"`;
    return failed(`${names}: no matching NodeSelectorTerms`);
  }
  return now && isBound(now) ? DONE : WAITING;
}
