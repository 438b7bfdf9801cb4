/**
 * Scales workloads by metrics. Every 15 seconds, target and metrics are read, evaluated, stabilized and limited.
 * Without autoscalers nothing is read, and no timer waits.
 */
import { keyOf } from '../../../client/informer/object-cache.ts';
import { HorizontalPodAutoscaler } from '../../../kinds/groups/autoscaling/horizontal-pod-autoscaler.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { type Controller, defineController, related } from '../../loop/define.ts';
import type { AggregatedOptions, KindsOptions } from '../../shared/aggregated-kinds.ts';
import { needsMetrics } from './decide.ts';
import { readMetrics } from './metrics/readings.ts';
import { type Look, planAutoscaler } from './plan-autoscaler.ts';
import { Memory } from './scaling/memory.ts';
import { readTarget } from './target.ts';

export function horizontalPodAutoscalerController({ kinds, aggregated }: KindsOptions & AggregatedOptions): Controller {
  const memory = new Memory();
  return defineController<HorizontalPodAutoscaler, Look | number>({
    name: 'horizontal-pod-autoscaler',
    account: 'horizontal-pod-autoscaler',
    component: 'horizontal-pod-autoscaler',
    workers: 5,
    watches: HorizontalPodAutoscaler,
    // Pods are counted at the next evaluation; until then changes do not matter.
    also: [related(Pod, () => [])],
    async observe(autoscaler, { key: { namespace = '', name } }, { client, signal, now }) {
      const key = `${namespace}/${name}`;
      if (!autoscaler) {
        memory.forget(key);
        return 0;
      }
      const dueIn = memory.dueIn(key, autoscaler, now.getTime());
      if (dueIn > 0) return dueIn;
      const target = await readTarget(autoscaler, { client, signal, kinds });
      const selector = typeof target === 'string' ? '' : target.selector;
      const isNeeded = selector !== '' && typeof target !== 'string' && needsMetrics(autoscaler, target);
      const { metrics = [] } = autoscaler.spec;
      const look = { client, signal, kinds, aggregated, namespace, selector };
      const readings = isNeeded ? await readMetrics(metrics, look) : [];
      memory.look(key, autoscaler, { selector, now: now.getTime() });
      return { target, readings, rivals: memory.rivals(autoscaler) };
    },
    *plan(autoscaler, { of, observed: look, failures, pace }, now) {
      if (!autoscaler) return [];
      const key = keyOf(autoscaler);
      const pods = typeof look === 'number' ? [] : of(Pod).list(autoscaler.metadata.namespace);
      const world = { look, pods, failures, pace, history: memory.history(key) };
      const { plan, history } = yield* planAutoscaler(autoscaler, world, now);
      memory.remember(key, history);
      return plan;
    },
  });
}
