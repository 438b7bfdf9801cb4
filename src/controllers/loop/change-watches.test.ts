import { expect, it } from 'vitest';
import { ScriptedApi } from '../../../test/support/scripted-api.ts';
import { silent } from '../../base/log.ts';
import { ControlledClock } from '../../base/time/clock.ts';
import { createClient } from '../../client/client.ts';
import { ConfigMap } from '../../kinds/groups/core/configuration/config-map.ts';
import { ChangeWatches } from './change-watches.ts';
import { requeueOnChange } from './plan.ts';

it('a key that is otherwise woken in between causes no back-off', async () => {
  const api = new ScriptedApi();
  const clock = new ControlledClock();
  const delays: number[] = [];
  const wake = (_: string, delay: number) => void delays.push(delay);
  const changes = new ChangeWatches({ client: createClient(api), clock, log: silent, wake });
  for (let i = 0; i < 5; i++) {
    changes.end('x/k');
    changes.start('x/k', [requeueOnChange(ConfigMap, 'x', String(api.revision)) as never]);
    await clock.advance(0);
    api.put('configmaps', { metadata: { name: 'c', namespace: 'x', labels: { i: String(i) } } });
    await clock.advance(0);
  }
  await changes.close();
  expect(delays[0]).toBe(0);
  expect(delays).toHaveLength(5);
  expect(Math.max(...delays)).toBeLessThanOrEqual(500);
});
