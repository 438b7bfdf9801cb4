/** Starts the control plane of a federation: the kinds of a federation, over a store of its own. */
import { federationKinds } from '../../federation/kinds.ts';
import {
  type ControlPlane,
  type ControlPlaneOptions,
  startControlPlane,
} from '../control-plane/start-control-plane.ts';
import { serveNamedKinds } from './named-kinds.ts';

export interface FederationOptions extends Pick<ControlPlaneOptions, 'clock' | 'random' | 'log' | 'cleanup'> {
  readonly api: Omit<ControlPlaneOptions['api'], 'kinds' | 'namespaces' | 'garbageCollection'>;
  /** Ends what goes on in the background, and the start. */
  readonly signal: AbortSignal;
}

/** Resolves when the kinds that FederatedTypes name now are served. Its controllers handle the finalizers of cascading deletion. */
export async function startFederation({ api, ...options }: FederationOptions): Promise<ControlPlane> {
  const plane = await startControlPlane({
    ...options,
    api: { ...api, kinds: federationKinds, namespaces: [], garbageCollection: true },
  });
  await serveNamedKinds({ ...options, server: plane.server });
  return plane;
}
