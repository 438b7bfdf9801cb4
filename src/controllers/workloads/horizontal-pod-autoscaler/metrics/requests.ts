/** The resource requests of pods, which utilization is relative to. */

import type { SeenPod } from '../../../../api/seen-objects.ts';
import { addQuantities, parseQuantity, scaled } from '../../../../base/quantity.ts';
import { amountIn } from '../../../../kinds/shapes/container/resources.ts';
import { containersTogether } from '../../../../kinds/shapes/pod/pod-resources.ts';
import type { PodSpec } from '../../../../kinds/shapes/pod/pod-spec.ts';
import { thousandths } from './samples.ts';
import { Unmeasurable } from './unmeasurable.ts';

/** Returns requests by pod name, in thousandths; of the whole pod without a container. Throws an Unmeasurable. */
export function requestsOf(
  pods: readonly SeenPod[],
  resource: string,
  container: string | undefined,
): ReadonlyMap<string, bigint> {
  return new Map(
    pods.map((pod) => {
      const isWhole = container === undefined && Object.keys(pod.spec.resources?.requests ?? {}).length > 0;
      return [pod.metadata.name ?? '', isWhole ? ofWhole(pod, resource) : ofContainers(pod, resource, container)];
    }),
  );
}

/** Pod-level requests take precedence over those of containers. */
function ofWhole({ metadata, spec }: SeenPod, resource: string): bigint {
  const own = amountIn(spec.resources?.requests, resource);
  const amount = own === undefined ? containersTogether(spec as PodSpec, 'requests').get(resource) : parseQuantity(own);
  if (!amount) throw new Unmeasurable(`missing pod-level request for ${resource} in Pod ${metadata.name}`);
  const overhead = amountIn(spec.overhead, resource);
  return scaled(overhead === undefined ? amount : addQuantities(amount, parseQuantity(overhead)), 3);
}

function ofContainers({ metadata, spec }: SeenPod, resource: string, container: string | undefined): bigint {
  const sidecars = spec.initContainers?.filter(({ restartPolicy }) => restartPolicy === 'Always') ?? [];
  const all = [...spec.containers, ...sidecars];
  const meant = container === undefined ? all : all.filter(({ name }) => name === container);
  if (meant.length === 0) throw new Unmeasurable(`container ${container} not found in Pod ${metadata.name}`);
  return meant.reduce((sum, { name, resources }) => {
    const amount = amountIn(resources.requests, resource);
    if (amount !== undefined) return sum + thousandths(amount);
    throw new Unmeasurable(`missing request for ${resource} in container ${name} of Pod ${metadata.name}`);
  }, 0n);
}
