/** Tests the work of cluster operators with kubectl: nodes, certificates, and the name of a field manager. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { configMap, withEveryKubectl } from './driver.ts';

const EXAMPLES = join(import.meta.dirname, '..', '..', '..', 'examples', 'kinds');
const request = parse(readFileSync(join(EXAMPLES, 'certificate-signing-request.yaml'), 'utf8'));

withEveryKubectl((kubectl) => {
  test('taint, cordon, drain', async () => {
    const name = `node-of-${kubectl.namespace}`;
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name } };
    await kubectl.run('create', '-f', await kubectl.file('node.json', node));
    await kubectl.run('taint', 'node', name, 'key=value:NoSchedule');
    const taints = () => kubectl.run('get', 'node', name, '-o', 'jsonpath={.spec.taints[*].key}');
    expect(await taints()).toContain('key');
    expect(await kubectl.fails('taint', 'node', name, 'key=other:NoSchedule')).toContain('--overwrite is false');
    await kubectl.run('taint', 'node', name, 'key=other:NoSchedule', '--overwrite');
    await kubectl.run('taint', 'node', name, 'key-');
    expect((await taints()).split(' ')).not.toContain('key');
    expect(await kubectl.run('cordon', name)).toBe(`node/${name} cordoned`);
    expect(await kubectl.run('get', 'node', name, '--no-headers')).toContain('SchedulingDisabled');
    expect(await kubectl.run('uncordon', name)).toBe(`node/${name} uncordoned`);
    expect(await kubectl.run('drain', name, '--ignore-daemonsets', '--force')).toContain(`node/${name} drained`);
    expect(await kubectl.run('describe', 'node', name)).toMatch(/Unschedulable: +true/);
    await kubectl.run('delete', 'node', name);
  });

  test('a further range of cluster IPs is used, and stays until it is free', async () => {
    const name = `range-of-${kubectl.namespace}`;
    const octet = kubectl.isNewest ? 1 : 2;
    const spec = { cidrs: [`172.30.${octet}.0/24`] };
    const range = { apiVersion: 'networking.k8s.io/v1', kind: 'ServiceCIDR', metadata: { name }, spec };
    await kubectl.run('create', '-f', await kubectl.file('range.json', range));
    await kubectl.run('wait', '--for=condition=Ready', `servicecidr/${name}`, '--timeout=20s');
    const address = `172.30.${octet}.9`;
    await kubectl.run('create', 'service', 'clusterip', 'further', '--tcp=80', `--clusterip=${address}`);
    expect(await kubectl.run('get', 'ipaddress', address, '--no-headers')).toMatch(
      new RegExp(`services/${kubectl.namespace}/further$`),
    );
    await kubectl.run('delete', 'servicecidr', name, '--wait=false');
    await kubectl.run('wait', '--for=condition=Ready=false', `servicecidr/${name}`, '--timeout=20s');
    await kubectl.run('delete', 'service', 'further');
    expect(await kubectl.run('get', 'ipaddress', address, '--ignore-not-found')).toBe('');
    await kubectl.run('wait', '--for=delete', `servicecidr/${name}`, '--timeout=30s');
  });

  test('drain evicts what runs there', async () => {
    const name = `busy-${kubectl.namespace}`;
    const spec = { nodeName: name, terminationGracePeriodSeconds: 0, containers: [{ name: 'a', image: 'busybox' }] };
    const objects = [
      { apiVersion: 'v1', kind: 'Node', metadata: { name } },
      { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'runs' }, spec },
    ];
    await kubectl.run('create', '-f', await kubectl.file('busy.json', objects));
    expect((await kubectl.outcome('drain', name)).stderr).toContain('cannot delete');
    const { code, stdout } = await kubectl.outcome('drain', name, '--force', '--timeout=15s');
    expect([code, stdout]).toEqual([0, expect.stringContaining(`evict`)]);
    expect(await kubectl.run('get', 'pod', 'runs', '--ignore-not-found')).toBe('');
    await kubectl.run('delete', 'node', name);
  });

  test('certificate approve and deny', async () => {
    for (const [word, condition] of [
      ['approve', 'Approved'],
      ['deny', 'Denied'],
    ] as const) {
      const name = `${word}-${kubectl.namespace}`;
      await kubectl.run('create', '-f', await kubectl.file('csr.json', { ...request, metadata: { name } }));
      expect(await kubectl.run('get', 'csr', name, '--no-headers')).toMatch(/Pending$/);
      await kubectl.run('certificate', word, name);
      expect(await kubectl.run('get', 'csr', name, '--no-headers')).toMatch(new RegExp(condition));
    }
    const denied = `deny-${kubectl.namespace}`;
    expect(await kubectl.fails('certificate', 'approve', denied)).toMatch(/Denied/);
    await kubectl.run('delete', 'csr', denied, `approve-${kubectl.namespace}`);
  });

  test('a field manager can be named with every write', async () => {
    const file = await kubectl.file('managed.json', configMap('managed', { a: '1' }));
    await kubectl.run('create', '-f', file, '--field-manager=me');
    await kubectl.run('apply', '-f', await kubectl.file('m2.json', configMap('m2', {})), '--field-manager=me');
    await kubectl.run('label', 'cm/managed', 'a=b', '--field-manager=me');
    await kubectl.run('annotate', 'cm/managed', 'a=b', '--field-manager=me');
    await kubectl.run('patch', 'cm/managed', '-p', '{"data":{"b":"2"}}', '--field-manager=me');
    await kubectl.run('replace', '-f', file, '--field-manager=me');
    if (kubectl.isNewest) await kubectl.run('get', 'cm/managed', '--show-managed-fields', '-o', 'yaml');
    expect(await kubectl.run('get', 'cm/managed', '-o', 'jsonpath={.data}')).toBe('{"a":"1"}');
  });

  test('events', async () => {
    const { namespace } = kubectl;
    const event = (name: string, reason: string) => ({
      ...{
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name, labels: { of: 'ours' } },
        reason,
        type: 'Normal',
        message: `it ${reason}`,
      },
      ...{
        involvedObject: { apiVersion: 'v1', kind: 'Pod', name: 'p', namespace },
        count: 1,
        lastTimestamp: '2026-01-01T00:00:00Z',
      },
    });
    await kubectl.run('create', '-f', await kubectl.file('events.json', [event('a', 'Began'), event('b', 'Ended')]));
    expect(await kubectl.lines('get', 'events', '--field-selector=reason=Ended', '--no-headers')).toEqual([
      expect.stringMatching(/ Normal Ended pod\/p it Ended$/),
    ]);
    expect(await kubectl.lines('get', 'events.v1.events.k8s.io', '-l', 'of=ours', '-o', 'name')).toHaveLength(2);
    if (kubectl.isNewest) expect(await kubectl.lines('events', '--for=pod/p', '--no-headers')).toHaveLength(2);
  });
});
