import { expect, it } from 'vitest';
import { admitting, rejection } from '../../../../../test/support/admission.ts';
import { denyServiceExternalIps } from './deny-service-external-ips.ts';

const service = (name: string, externalIPs?: string[]) => ({
  metadata: { name },
  spec: { ports: [{ port: 80 }], ...(externalIPs && { externalIPs }) },
});

it('allows external IPs to be removed, but not added', async () => {
  const server = await admitting([denyServiceExternalIps]);
  expect(await rejection(server.create('services', service('a', ['192.0.2.1'])))).toBe(
    'services "a" is forbidden: Use of external IPs is denied by admission control',
  );
  await server.create('services', service('a'));
  const patched = (externalIPs: string[]) => server.patch('services', 'a', { spec: { externalIPs } });
  expect(await rejection(patched(['192.0.2.1']))).toContain('Use of external IPs is denied');
});

it('leaves existing external IPs alone', async () => {
  const plugin = { ...denyServiceExternalIps };
  const validate = plugin.validate!;
  let isOn = false;
  plugin.validate = (core, request) => (isOn ? validate(core, request) : undefined);
  const server = await admitting([plugin]);
  await server.create('services', service('a', ['192.0.2.1', '192.0.2.2']));
  isOn = true;
  await server.patch('services', 'a', { metadata: { labels: { x: 'y' } } });
  await server.patch('services', 'a', { spec: { externalIPs: ['192.0.2.2'] } });
  expect(
    await rejection(server.patch('services', 'a', { spec: { externalIPs: ['192.0.2.2', '192.0.2.3'] } })),
  ).toContain('denied');
});
