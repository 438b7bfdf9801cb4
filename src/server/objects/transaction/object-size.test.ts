import { describe, expect, it } from 'vitest';
import { testServer } from '../../../../test/support/server.ts';
import { Deployment } from '../../../kinds/groups/apps/deployment.ts';
import { Namespace } from '../../../kinds/groups/core/namespace.ts';
import { checkSize } from './object-size.ts';

const apps = { apiVersion: 'apps/v1' } as const;
const deployment = {
  metadata: { name: 'd' },
  spec: {
    selector: { matchLabels: { app: 'd' } },
    template: { metadata: { labels: { app: 'd' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
};
const withVariable = (name: string, length: number) => ({
  spec: { template: { spec: { containers: [{ name: 'c', env: [{ name, value: 'x'.repeat(length) }] }] } } },
});
const bytesOf = (value: unknown) => Buffer.from(JSON.stringify(value));

describe('an object', () => {
  it('cannot grow indefinitely by patches', async () => {
    const server = await testServer([Namespace, Deployment]);
    await server.create('deployments', deployment, apps);
    const grow = (name: string) =>
      server.patch('deployments', 'd', withVariable(name, 1_500_000), { ...apps, patchType: 'strategic' });
    await grow('A');
    await grow('B');
    await expect(grow('C')).rejects.toMatchObject({
      reason: 'RequestEntityTooLarge',
      message: 'Request entity too large: the object would have more than 4194304 bytes',
    });
    const { spec } = await server.get('deployments', 'd', apps);
    expect(spec.template.spec.containers[0].env).toHaveLength(2);
    // The rejected write left nothing behind.
    await server.patch('deployments', 'd', withVariable('D', 10), { ...apps, patchType: 'strategic' });
  });

  it('has a limit for fields and list items, too', () => {
    expect(() => checkSize(bytesOf(new Array(499_999).fill(1)), undefined)).not.toThrow();
    expect(() => checkSize(bytesOf(new Array(500_002).fill(1)), undefined)).toThrow('500000 fields and list items');
    expect(() => checkSize(bytesOf([',:[{'.repeat(1_000_000)]), undefined)).not.toThrow();
  });

  it('may become smaller if it was larger before', () => {
    const large = bytesOf('x'.repeat(5_000_000));
    expect(() => checkSize(large.subarray(1), large)).not.toThrow();
    expect(() => checkSize(large, large.subarray(1))).toThrow('4194304 bytes');
  });
});
