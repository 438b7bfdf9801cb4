/**
 * Tests rollbacks to the same revision: kubectl compares the bytes of a revision with those that it would write itself,
 * and so finds that nothing is to be rolled back.
 */
import { expect, test } from 'vitest';
import { withEveryKubectl } from './driver.ts';

/**
 * Template with parts that a Go program writes differently: characters of HTML, keys that are numbers, empty and
 * defaulted fields.
 */
const template = (name: string) => ({
  metadata: {
    labels: { app: name, zone: 'a', 10: 'x', 9: 'y', B: 'z' },
    annotations: { 'example.com/html': '<a href="x?a=1&b=2">\u2028é😀</a>' },
  },
  spec: {
    containers: [
      {
        name: 'main',
        image: 'nginx:1',
        command: ['sh', '-c', 'while true; do date > /tmp/x && sleep 1 2>&1; done'],
        env: [
          { name: 'EMPTY', value: '' },
          { name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
        ],
        ports: [{ containerPort: 80 }],
        resources: { requests: { memory: '0.5Gi', cpu: '1000m' }, limits: { cpu: '2.0' } },
        livenessProbe: { httpGet: { port: 80 } },
        volumeMounts: [{ name: 'config', mountPath: '/config' }],
      },
    ],
    initContainers: [{ name: 'init', image: 'nginx:1' }],
    nodeSelector: { none: 'such' },
    serviceAccountName: 'other',
    tolerations: [{ operator: 'Exists' }],
    volumes: [
      { name: 'config', configMap: { name: 'c' } },
      { name: 'scratch', emptyDir: {} },
      { name: 'host', hostPath: { path: '/x' } },
    ],
  },
});

const workload = (kind: string) => {
  const name = kind.toLowerCase();
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata: { name },
    spec: {
      selector: { matchLabels: { app: name } },
      template: template(name),
      ...(kind === 'StatefulSet' ? { serviceName: 'db', replicas: 0 } : {}),
    },
  };
};

withEveryKubectl((kubectl) => {
  test.each(['DaemonSet', 'StatefulSet'])('of a %s', async (kind) => {
    const what = `${kind.toLowerCase()}/${kind.toLowerCase()}`;
    const revisions = () =>
      kubectl.run(
        'get',
        'controllerrevisions',
        '-l',
        `app=${kind.toLowerCase()}`,
        '-o',
        'jsonpath={.items[*].revision}',
      );
    const made = async (wanted: string) => {
      let found: string;
      do found = (await revisions()).split(' ').sort().join(' ');
      while (found !== wanted);
    };
    await kubectl.run('create', '-f', await kubectl.file(`${kind}.json`, workload(kind)));
    await made('1');
    await kubectl.run('set', 'image', what, 'main=nginx:2');
    await made('1 2');
    // Before 1.34, Go programs wrote a creationTimestamp of null, which Kubernetes 1.36 leaves out.
    const isSame = kubectl.isNewest ? 'skipped rollback (current template already matches revision 2)' : 'rolled back';
    expect(await kubectl.run('rollout', 'undo', what, '--to-revision=2')).toContain(isSame);
    expect(await kubectl.run('rollout', 'undo', what, '--to-revision=1')).toContain('rolled back');
  });
});
