/** Tests a rollout with kubectl: status, history, undo, pause, resume, restart. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/time/clock.ts';
import { createClient } from '../../../src/client/client.ts';
import { connectionOf, loadKubeconfig } from '../../../src/client/kubeconfig/kubeconfig.ts';
import { type HttpsTransport, httpsTransport } from '../../../src/client/transport/http/https-transport.ts';
import { bringPodsToLife } from '../../support/pod-life.ts';
import { deployment, withKubectl } from './driver.ts';

withKubectl((kubectl) => {
  let transport: HttpsTransport;
  let life: Promise<void>;
  const stop = new AbortController();

  // No node runs the pods here: this stands in for it.
  beforeAll(async () => {
    transport = httpsTransport(await connectionOf(await loadKubeconfig([kubectl.qd.kubeconfig])));
    life = bringPodsToLife(createClient(transport), { clock: systemClock, signal: stop.signal });
  });
  afterAll(async () => {
    stop.abort();
    await life;
    transport.close();
  });

  const rollout = (...args: string[]) => kubectl.run('rollout', ...args);
  const field = (path: string) => kubectl.run('get', 'deployment/web', '-o', `jsonpath={${path}}`);
  const images = () =>
    kubectl.lines('get', 'pods', '-l', 'app=web', '-o', 'jsonpath={range .items[*]}{.spec.containers[0].image}{"\\n"}');

  test('status follows it to its end', async () => {
    await kubectl.run('create', '-f', await kubectl.file('web.json', deployment('web')));
    await kubectl.run('scale', 'deployment/web', '--replicas=3');
    expect(await rollout('status', 'deployment/web')).toMatch(/deployment "web" successfully rolled out$/);
    expect(await kubectl.lines('get', 'deployment/web')).toEqual([
      'NAME READY UP-TO-DATE AVAILABLE AGE',
      expect.stringMatching(/^web 3\/3 3 3 \d+s$/),
    ]);
    await kubectl.run('wait', '--for=condition=Available', 'deployment/web', '--timeout=10s');
  });

  test('history has a line for each template, with its cause', async () => {
    await kubectl.run('annotate', 'deployment/web', 'kubernetes.io/change-cause=first');
    await kubectl.run('set', 'image', 'deployment/web', 'main=nginx:1.28');
    await kubectl.run('annotate', 'deployment/web', 'kubernetes.io/change-cause=second', '--overwrite');
    await rollout('status', 'deployment/web');
    await expect
      .poll(() => kubectl.lines('rollout', 'history', 'deployment/web'))
      .toEqual(['deployment.apps/web', 'REVISION CHANGE-CAUSE', '1 first', '2 second']);
    expect(await rollout('history', 'deployment/web', '--revision=1')).toContain('nginx:1.27');
  });

  test('undo goes back, and the old revision is the newest then', async () => {
    expect(await rollout('undo', 'deployment/web')).toBe('deployment.apps/web rolled back');
    await rollout('status', 'deployment/web');
    expect(await field('.spec.template.spec.containers[0].image')).toBe('nginx:1.27');
    expect(await images()).toEqual(['nginx:1.27', 'nginx:1.27', 'nginx:1.27']);
    await expect
      .poll(() => kubectl.lines('rollout', 'history', 'deployment/web'))
      .toEqual(['deployment.apps/web', 'REVISION CHANGE-CAUSE', '2 second', expect.stringMatching(/^3 /)]);
    await rollout('undo', 'deployment/web', '--to-revision=2');
    await rollout('status', 'deployment/web');
    expect(await images()).toEqual(['nginx:1.28', 'nginx:1.28', 'nginx:1.28']);
    expect(await kubectl.fails('rollout', 'undo', 'deployment/web', '--to-revision=9')).toContain(
      'unable to find specified revision 9 in history',
    );
  });

  test('a paused one waits', async () => {
    expect(await rollout('pause', 'deployment/web')).toBe('deployment.apps/web paused');
    expect(await kubectl.fails('rollout', 'pause', 'deployment/web')).toContain('is already paused');
    await kubectl.run('set', 'image', 'deployment/web', 'main=nginx:1.29');
    const reason = () => field('.status.conditions[?(@.type=="Progressing")].reason');
    await expect.poll(reason).toBe('DeploymentPaused');
    expect(await images()).toEqual(['nginx:1.28', 'nginx:1.28', 'nginx:1.28']);
    expect(await rollout('resume', 'deployment/web')).toBe('deployment.apps/web resumed');
    await rollout('status', 'deployment/web');
    expect(await images()).toEqual(['nginx:1.29', 'nginx:1.29', 'nginx:1.29']);
  });

  test('restart replaces every pod', async () => {
    const names = () => kubectl.lines('get', 'pods', '-l', 'app=web', '-o', 'name');
    const before = await names();
    expect(await rollout('restart', 'deployment/web')).toBe('deployment.apps/web restarted');
    await rollout('status', 'deployment/web');
    const after = await names();
    expect(after).toHaveLength(3);
    expect(after.filter((name) => before.includes(name))).toEqual([]);
  });

  test('describe tells what happened', async () => {
    const text = await kubectl.run('describe', 'deployment/web');
    expect(text).toMatch(/Replicas: +3 desired \| 3 updated \| 3 total \| 3 available \| 0 unavailable/);
    expect(text).toMatch(/Available +True +MinimumReplicasAvailable/);
    expect(text).toMatch(/Progressing +True +NewReplicaSetAvailable/);
    expect(text).toMatch(/Normal +ScalingReplicaSet .* deployment-controller +Scaled up replica set web-\w+ /);
    const pod = (await kubectl.lines('get', 'pods', '-l', 'app=web', '-o', 'name'))[0] ?? '';
    const set = await kubectl.run('describe', pod.replace(/^pod(.*)-\w+$/, 'replicaset$1'));
    expect(set).toMatch(/Normal +SuccessfulCreate .* replicaset-controller +Created pod: web-/);
  });
});
