import { expect, it } from 'vitest';
import { ScriptedApi } from '../../../../test/support/scripted-api.ts';
import { silent } from '../../../base/log.ts';
import { systemRandom } from '../../../base/random.ts';
import { ControlledClock } from '../../../base/time/clock.ts';
import { createClient } from '../../../client/client.ts';
import { ConfigMap } from '../../../kinds/groups/core/configuration/config-map.ts';
import { AggregatedKinds } from '../../shared/aggregated-kinds.ts';
import { followKinds } from './follow-kinds.ts';
import { OwnerGraph } from './owner-graph.ts';

it('the graph is ready when all objects of this server are known, whatever other servers do', async () => {
  const api = new ScriptedApi();
  api.put('configmaps', { metadata: { name: 'a', namespace: 'x', uid: 'a' } });
  const asked: string[] = [];
  const never = () => new Promise<never>(() => {});
  const silentServer = {
    call: ({ plural }: { plural: string }) => {
      asked.push(plural);
      return never();
    },
    watch: never,
  };
  const resource = { plural: 'gauges', kind: 'Gauge', namespaced: true, verbs: ['list', 'watch', 'delete'] };
  const apis = [{ apiVersion: 'gauges.example.com/v1', resources: () => [resource] }];
  const stop = new AbortController();
  const graph = new OwnerGraph();
  const { ready } = followKinds(
    graph,
    {
      kinds: () => [ConfigMap],
      aggregated: new AggregatedKinds({ aggregated: () => apis }),
      onKindsChange: () => () => {},
      changed: () => {},
    },
    {
      ...{ clock: new ControlledClock(), random: systemRandom, log: silent, signal: stop.signal, wake: () => {} },
      client: createClient(api, silentServer),
    },
  );
  await ready;
  expect(asked).toEqual(['gauges']);
  expect(graph.get('a')?.name).toBe('a');
  stop.abort();
});
