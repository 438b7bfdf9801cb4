/** The built program with processes, as root: also who its pods are on the node, and what those with the image host see. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeAgent } from './agent.ts';
import { AttackedCluster } from './cluster.ts';
import { scratchOfNode } from './lab.ts';

const isRoot = process.getuid?.() === 0;
if (!isRoot) console.warn('attacks on an agent with processes are skipped: they need root');

describe.skipIf(!isRoot)('an agent with processes', () => {
  let cluster: AttackedCluster;

  beforeAll(async () => {
    cluster = await AttackedCluster.start({
      ...{ runtime: 'process', image: 'host', clusterCidr: '10.238.0.0/16', serviceCidr: '10.138.0.0/16' },
    });
  });
  afterAll(() => cluster?.stop());

  describeAgent(() => cluster);

  const READ_MAP = 'cat /proc/self/uid_map; head -c 1 /etc/shadow >/dev/null 2>&1 && echo shadow; true';
  const firstIdOf = (log = '') => Number(log.trim().split(/\s+/)[1]);

  test('gives each pod ids of its own, except for those that ask for more', async () => {
    const [one, two, ...others] = await Promise.all([
      cluster.outcome({ name: 'users-1', script: READ_MAP }),
      cluster.outcome({ name: 'users-2', script: READ_MAP }),
      cluster.outcome({ name: 'users-host', script: READ_MAP, spec: { hostUsers: true } }),
      cluster.outcome({ name: 'users-network', script: READ_MAP, spec: { hostNetwork: true } }),
      cluster.outcome({
        name: 'users-privileged',
        script: READ_MAP,
        container: { securityContext: { privileged: true } },
      }),
    ]);
    for (const { log } of [one, two]) {
      expect(firstIdOf(log)).toBeGreaterThanOrEqual(65_536);
      expect(log).not.toContain('shadow');
    }
    expect(firstIdOf(one.log)).not.toBe(firstIdOf(two.log));
    for (const { log } of others) {
      expect(firstIdOf(log)).toBe(0);
      expect(log).toContain('shadow');
    }
  });

  test('hides the data of clusters from pods with the image host', async () => {
    const secret = { metadata: { name: 'victim' }, stringData: { key: 'the secret of another pod' } };
    await cluster.qd.request('POST', '/api/v1/namespaces/default/secrets', { body: secret });
    const volumes = [{ name: 'keys', secret: { secretName: 'victim' } }];
    await cluster.create({
      ...{ name: 'victim', script: 'exec sleep 1000', spec: { volumes } },
      container: { volumeMounts: [{ name: 'keys', mountPath: '/keys' }] },
    });
    await cluster.qd.until(
      cluster.pods(),
      ({ metadata, status }) => metadata.name === 'victim' && status.phase === 'Running',
    );
    const other = scratchOfNode();
    await writeFile(join(other, 'marker'), 'of the node');
    const { data } = cluster;
    const listed = `[ -n "$(ls -A ${data})" ] && echo listed`;
    const steal = [
      listed,
      `cat ${data}/pki/*.key >/dev/null && echo keys`,
      `cat ${cluster.qd.kubeconfig} | grep -q client-key && echo kubeconfig`,
      `grep -rsq 'the secret of another' ${data}/nodes && echo secret`,
      `umount ${data}; ${listed}`,
    ];
    const script = `(${steal.join('; ')}) 2>/dev/null; echo end`;
    const thieves = [
      { name: 'thief', script, spec: { hostUsers: true } },
      { name: 'mapped-thief', script },
      { name: 'network-thief', script, spec: { hostNetwork: true } },
    ];
    const loot = await Promise.all(thieves.map((thief) => cluster.outcome(thief)));
    expect(loot).toEqual(thieves.map(() => ({ log: 'end' })));
    const control = { name: 'reader', script: `cat ${other}/marker`, spec: { hostUsers: true } };
    expect(await cluster.outcome(control)).toEqual({ log: 'of the node' });
  });

  test.each(['baseline', 'restricted'])('rejects the image host in a namespace that enforces %s', async (level) => {
    const labels = { 'pod-security.kubernetes.io/enforce': level };
    await cluster.qd.request('POST', '/api/v1/namespaces', { body: { metadata: { name: level, labels } } });
    const restricted = {
      securityContext: {
        ...{ allowPrivilegeEscalation: false, runAsNonRoot: true, runAsUser: 1000 },
        ...{ capabilities: { drop: ['ALL'] }, seccompProfile: { type: 'RuntimeDefault' } },
      },
    };
    const names = ['host', 'quarterdeck.local/host', 'quarterdeck.local/host:latest'];
    for (const [i, image] of names.entries()) {
      const container = { ...restricted, image };
      const { code, body } = await cluster.create({ name: `host-${i}`, namespace: level, container });
      expect(code, image).toBe(403);
      expect(body.message).toContain('violates PodSecurity');
    }
    const container = { ...restricted, image: 'other:1', imagePullPolicy: 'Never' };
    expect((await cluster.create({ name: 'other', namespace: level, container })).code).toBeLessThan(300);
  });
});
