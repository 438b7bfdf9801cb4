/** The target of an autoscaler, and its current size. */

import { isApiError } from '../../../api/errors.ts';
import type { DeepReadonly } from '../../../api/object-types.ts';
import type { HorizontalPodAutoscaler } from '../../../kinds/groups/autoscaling/horizontal-pod-autoscaler.ts';
import { type Kind, splitApiVersion } from '../../../kinds/kind.ts';
import type { ReadTools } from '../../loop/define.ts';
import type { KindsOptions } from '../../shared/aggregated-kinds.ts';

export interface Target {
  readonly kind: Kind;
  /** The desired number of pods, and the observed one. */
  readonly replicas: number;
  readonly observed: number;
  /** Selector as a query string. */
  readonly selector: string;
}

export async function readTarget(
  { metadata, spec }: DeepReadonly<HorizontalPodAutoscaler>,
  { client, signal, kinds }: ReadTools & KindsOptions,
): Promise<Target | string> {
  const { apiVersion = '', kind: wanted, name } = spec.scaleTargetRef;
  if (apiVersion.split('/').length > 2) return `unexpected GroupVersion string: ${apiVersion}`;
  const [group] = splitApiVersion(apiVersion);
  const kind = [...kinds()].find((each) => each.kind === wanted && each.versions.some((at) => at.group === group));
  if (!kind) return `no matches for kind ${JSON.stringify(wanted)} in group ${JSON.stringify(group)}`;
  try {
    return { kind, ...(await client.of(kind).in(metadata.namespace).scale(name, { signal })) };
  } catch (error) {
    if (signal.aborted || !isApiError(error)) throw error;
    return error.message;
  }
}
