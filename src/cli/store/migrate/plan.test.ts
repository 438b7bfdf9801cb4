import { describe, expect, test } from 'vitest';
import { planMigration } from './plan.ts';

const options = { given: {}, target: 'etcd', remembered: {}, name: 'dev', directory: '/data' } as const;
const etcdServers = ['http://127.0.0.1:2379'];
const external = { store: 'etcd', etcdServers } as const;

describe('the settings after a migration', () => {
  test('keep the nodes, whose number and names have other defaults on a shared store', () => {
    const { to } = planMigration({ ...options, given: { etcdServers } });
    expect(to).toMatchObject({ ...external, nodes: 1, nodeName: 'dev-node-1' });
    const back = planMigration({ ...options, target: 'embedded', remembered: { ...external, nodeName: 'vm' } });
    expect(back.to).toEqual({ store: 'embedded', nodes: 0, nodeName: 'vm' });
  });

  test('have an etcd of the server with --ha, and nothing of it afterwards', () => {
    const remembered = { port: 7000, bindAddress: '192.0.2.1' };
    const { to } = planMigration({ ...options, remembered, given: { ha: true, serverName: 'one' } });
    expect(to).toMatchObject({ ...remembered, ha: true, serverName: 'one', etcdServers: ['https://192.0.2.1:2379'] });
    const back = planMigration({ ...options, target: 'embedded', remembered: to });
    expect(back.to).toEqual({ ...remembered, store: 'embedded', nodes: 1, nodeName: 'dev-node-1' });
    expect(back.from).toEqual(to);
  });

  test('have another directory of the embedded store, and none of it on etcd', () => {
    const { to } = planMigration({ ...options, target: 'embedded', given: { storeDir: '/disk' } });
    expect(to).toMatchObject({ store: 'embedded', storeDir: '/disk' });
    expect(planMigration({ ...options, target: 'embedded', remembered: to }).to.storeDir).toBeUndefined();
    expect(planMigration({ ...options, remembered: to, given: { etcdServers } }).to.storeDir).toBeUndefined();
    const again = { ...options, target: 'embedded', remembered: to, given: { storeDir: '/disk' } } as const;
    expect(() => planMigration(again)).toThrow('are in /disk already');
    const elsewhere = { ...options, given: { storeDir: '/disk', etcdServers } };
    expect(() => planMigration(elsewhere)).toThrow('--store-dir needs --to embedded');
  });

  test('are rejected where there is nothing to do, or flags do not go together', () => {
    const reject = (changes: Partial<Parameters<typeof planMigration>[0]>, text: string) =>
      expect(() => planMigration({ ...options, ...changes })).toThrow(text);
    reject({ target: 'embedded' }, 'are in the data directory already');
    reject({ given: { etcdServers }, remembered: external }, 'are in etcd already');
    reject({ given: { ha: true }, remembered: { ...external, ha: true } }, 'of its own already');
    reject({ remembered: { store: 'memory' } }, 'nothing to move');
    reject({}, '--to etcd needs --ha');
    reject({ given: { serverName: 'one' } }, '--server-name needs --ha');
    reject({ given: { bindAddress: '192.0.2.1', etcdServers } }, '--bind-address needs --ha');
    reject({ given: { ha: true }, target: 'embedded', remembered: external }, '--ha needs --to etcd');
    reject({ given: { etcdServers }, target: 'embedded', remembered: external }, '--etcd-servers needs --to etcd');
  });
});
