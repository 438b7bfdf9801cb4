import { expect, it } from 'vitest';
import { systemClock } from '../../base/time/clock.ts';
import { ConfigReplica } from './changes.ts';
import { EMPTY_CONFIG } from './config.ts';
import { ConfigSender } from './config-sender.ts';

it('sends many rules in parts, and after that only what changes', async () => {
  const replica = new ConfigReplica();
  const sent: number[] = [];
  const sender = new ConfigSender(systemClock, async (part, isLast) => {
    sent.push(part.length);
    replica.take(part, isLast);
  });
  const many = Array.from(
    { length: 20_000 },
    (_, index) => ({ path: `/${index}`, type: 'Exact', backend: 'web' }) as const,
  );
  const config = { ...EMPTY_CONFIG, hosts: new Map([['', many]]), backends: new Map([['web', []]]) };
  // Rules that are replaced before they were sent.
  await Promise.all([sender.use(config), sender.use({ ...config, defaultBackend: 'none' }), sender.use(config)]);
  expect(sent.length).toBeGreaterThan(20);
  expect(replica.config).toEqual(config);
  sent.length = 0;
  await sender.use({ ...config, backends: new Map([...config.backends, ['other', []]]) });
  expect(sent).toEqual([1]);
});

it('reports that rules could not be sent, and sends them with the next ones', async () => {
  let isBroken = true;
  const replica = new ConfigReplica();
  const sender = new ConfigSender(systemClock, async (part, isLast) => {
    if (isBroken) throw new Error('lost');
    replica.take(part, isLast);
  });
  const config = { ...EMPTY_CONFIG, defaultBackend: 'web' };
  await expect(sender.use(config)).rejects.toThrow('lost');
  isBroken = false;
  await sender.use(config);
  expect(replica.config.defaultBackend).toBe('web');
});
