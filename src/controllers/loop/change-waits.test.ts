import { expect, it } from 'vitest';
import { ScriptedApi } from '../../../test/support/scripted-api.ts';
import { ControlledClock } from '../../base/clock.ts';
import { silent } from '../../base/log.ts';
import { createClient } from '../../client/client.ts';
import { ConfigMap } from '../../kinds/groups/core/config-map.ts';
import { ChangeWaits } from './change-waits.ts';
import { requeueOnChange } from './plan.ts';

it('does not wait longer and longer for a key that others wake in between', async () => {
  const api = new ScriptedApi();
  const clock = new ControlledClock();
  const delays: number[] = [];
  const wake = (_: string, delay: number) => void delays.push(delay);
  const waits = new ChangeWaits({ client: createClient(api), clock, log: silent, wake });
  for (let i = 0; i < 5; i++) {
    waits.end('x/k');
    waits.start('x/k', [requeueOnChange(ConfigMap, 'x', String(api.revision)) as never]);
    await clock.advance(0);
    api.put('configmaps', { metadata: { name: 'c', namespace: 'x', labels: { i: String(i) } } });
    await clock.advance(0);
  }
  await waits.close();
  expect(delays[0]).toBe(0);
  expect(delays).toHaveLength(5);
  expect(Math.max(...delays)).toBeLessThanOrEqual(500);
});
