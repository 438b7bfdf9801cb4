/** Tests pulls of the agent, and how one affects other pods. */
import { afterEach, expect, test } from 'vitest';
import { Secret } from '../../src/kinds/groups/core/configuration/secret.ts';
import { PullRecords } from '../../src/node/agent/images/pull-records.ts';
import { volumesApi } from '../../src/node/agent/volumes-api.ts';
import type { SeenPod } from '../../src/node/pod/container-run.ts';
import type { RegistryCredentials } from '../../src/node/runtime/runtime.ts';
import { type AgentCluster, agentCluster } from '../support/agent.ts';

let cluster: AgentCluster;
afterEach(() => cluster.stop());

const isReady = (pod: any) =>
  pod?.status.conditions?.some((each: any) => each.type === 'Ready' && each.status === 'True');

/** Makes pulls of images of this name hang until `release` is called. */
async function start(hanging: string) {
  cluster = await agentCluster();
  const { images } = cluster.runtime;
  const pull = images.pull;
  const pulled: (RegistryCredentials | undefined)[] = [];
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  images.pull = async (reference: string, credentials?: RegistryCredentials) => {
    pulled.push(credentials);
    if (reference === hanging) await released;
    return pull(reference);
  };
  return { ...cluster, pulled, release };
}

const pod = (image: string) => ({ spec: { containers: [{ name: 'c', image }] } });

test('a pull that hangs holds neither other pods nor the end of its own', async () => {
  const { run, until, release } = await start('stuck:1');
  const isPulling = (seen: any) => seen?.status.containerStatuses?.[0].state.waiting?.reason === 'ContainerCreating';
  await run('stuck', pod('stuck:1'));
  await until('stuck', isPulling);
  await run('other', pod('other:1'));
  await until('other', isReady);
  await cluster.delete('stuck');
  await until('stuck', (gone) => gone === undefined);
  release();
});

async function volumePulls(hanging: string) {
  const { pulled, release } = await start(hanging);
  const { nodeClient, runtime, clock, client } = cluster;
  const auth = Buffer.from(JSON.stringify({ auths: { 'registry.example': { username: 'me', password: 'p' } } }));
  await client
    .of(Secret)
    .in('default')
    .create({
      metadata: { name: 'key', namespace: 'default' },
      type: 'kubernetes.io/dockerconfigjson',
      data: { '.dockerconfigjson': auth.toString('base64') },
    } as never);
  await cluster.run('web', { spec: { imagePullSecrets: [{ name: 'key' }] } });
  const web = (await cluster.pod('web')) as SeenPod;
  const events: string[] = [];
  const api = volumesApi(nodeClient, {
    nodeName: 'n1',
    images: () => runtime.images,
    pullRecords: new PullRecords(undefined),
    clock,
    emit: (pod, { type, reason, message }) => events.push(`${pod.metadata.name}: ${type} ${reason} ${message}`),
  });
  return { api, web, pulled, release, clock, events };
}

test('an image volume is pulled with the credentials of its pod', async () => {
  const { api, web, pulled, events } = await volumePulls('none');
  expect(await api.pullImage(web, 'registry.example/data:1', 'IfNotPresent')).toBe('registry.example/data:1');
  expect(pulled).toMatchObject([{ username: 'me', password: 'p' }]);
  await expect(api.pullImage(web, 'registry.example/other:1', 'Never')).rejects.toThrow(
    'ErrImageNeverPull: Container image "registry.example/other:1" is not present with pull policy of Never',
  );
  expect(events).toEqual([
    'web: Normal Pulling Pulling image "registry.example/data:1"',
    expect.stringMatching(/^web: Normal Pulled Successfully pulled image "registry.example\/data:1" in /),
    'web: Warning ErrImageNeverPull Container image "registry.example/other:1" is not present with pull policy of Never',
    'web: Warning Failed Error: ErrImageNeverPull',
  ]);
});

test('an image volume that takes long is pulled once, and does not hold the other work on the pod', async () => {
  const { api, web, pulled, release, clock } = await volumePulls('registry.example/data:1');
  const attempt = () => api.pullImage(web, 'registry.example/data:1', 'Always');
  const first = attempt().catch((error: Error) => error.message);
  await clock.advance(30_000);
  expect(await first).toBe('the image "registry.example/data:1" is still being pulled');
  const second = attempt();
  release();
  expect(await second).toBe('registry.example/data:1');
  expect(pulled).toHaveLength(1);
});
