import { beforeEach, describe, expect, it } from 'vitest';
import { admitting, podNamed, rejection } from '../../../../../../test/support/admission.ts';
import type { TestServer } from '../../../../../../test/support/server.ts';
import type { Call } from '../../../../../api/call.ts';
import { podSecurity } from './pod-security.ts';

let server: TestServer;
beforeEach(async () => {
  server = await admitting([podSecurity]);
});

const P = 'pod-security.kubernetes.io/';
const namespace = (name: string, labels: Record<string, string>) =>
  server.create(
    'namespaces',
    { metadata: { name, labels: Object.fromEntries(Object.entries(labels).map(([key, value]) => [P + key, value])) } },
    { namespace: '' },
  );

/** Returns the warnings and audit annotations of a request. */
async function said(verb: Call['verb'], plural: string, more: Partial<Call>) {
  const { warnings = [], annotations = {} } = await server.notes(verb, plural, more);
  return { warnings, notes: annotations };
}

const WORDS =
  'allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false), ' +
  'unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]), ' +
  'runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true), ' +
  'seccompProfile (pod or container "c" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")';

describe('pods', () => {
  it('are rejected when the namespace does not allow them', async () => {
    await namespace('n', { enforce: 'restricted' });
    expect(await rejection(server.create('pods', podNamed('p'), { namespace: 'n' }))).toBe(
      `pods "p" is forbidden: violates PodSecurity "restricted:latest": ${WORDS}`,
    );
  });

  it('are checked against the release that the namespace pins', async () => {
    await namespace('n', { enforce: 'restricted', 'enforce-version': 'v1.7' });
    expect(await rejection(server.create('pods', podNamed('p'), { namespace: 'n' }))).toBe(
      'pods "p" is forbidden: violates PodSecurity "restricted:v1.7": runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true)',
    );
  });

  it('are admitted with a warning and an audit annotation', async () => {
    await namespace('n', { warn: 'restricted', audit: 'baseline', enforce: 'privileged' });
    const body = podNamed('p', { hostNetwork: true });
    const { warnings, notes } = await said('create', 'pods', { namespace: 'n', body });
    expect(warnings).toEqual([
      `would violate PodSecurity "restricted:latest": host namespaces (hostNetwork=true), ${WORDS}`,
    ]);
    expect(notes).toEqual({
      [`${P}enforce-policy`]: 'privileged:latest',
      [`${P}audit-violations`]: 'would violate PodSecurity "baseline:latest": host namespaces (hostNetwork=true)',
    });
  });

  it('may be changed as long as their images stay the same', async () => {
    await namespace('n', {});
    await server.create('pods', podNamed('p'), { namespace: 'n' });
    await server.patch(
      'namespaces',
      'n',
      { metadata: { labels: { [`${P}enforce`]: 'restricted' } } },
      { namespace: '' },
    );
    await server.patch('pods', 'p', { metadata: { labels: { a: 'b' } } }, { namespace: 'n' });
    const image = { spec: { containers: [{ name: 'c', image: 'other' }] } };
    const asked = server.patch('pods', 'p', image, { namespace: 'n', patchType: 'strategic' });
    expect(await rejection(asked)).toContain('violates PodSecurity "restricted:latest"');
  });

  it.each(['baseline', 'restricted'])(
    'are rejected with the file system of the node as their image: %s',
    async (enforce) => {
      await namespace('n', { enforce });
      const containers = [{ name: 'c', image: 'host:any' }];
      expect(await rejection(server.create('pods', podNamed('p', { containers }), { namespace: 'n' }))).toContain(
        `violates PodSecurity "${enforce}:latest": host image (container "c" must not use the image "host"`,
      );
    },
  );

  it('cannot be given the file system of the node by an update', async () => {
    await namespace('n', { enforce: 'baseline' });
    await server.create('pods', podNamed('p'), { namespace: 'n' });
    const image = { spec: { containers: [{ name: 'c', image: 'quarterdeck.local/host' }] } };
    const patched = server.patch('pods', 'p', image, { namespace: 'n', patchType: 'strategic' });
    expect(await rejection(patched)).toContain('host image (container "c"');
    const ephemeralContainers = [{ name: 'e', image: 'host', terminationMessagePolicy: 'File' }];
    const debugged = server.patch(
      'pods',
      'p',
      { spec: { ephemeralContainers } },
      {
        ...{ namespace: 'n', patchType: 'strategic', subresource: 'ephemeralcontainers' },
      },
    );
    expect(await rejection(debugged)).toContain('host image (container "e"');
  });

  it('are not checked in a namespace without labels', async () => {
    const { warnings, notes } = await said('create', 'pods', {
      namespace: 'default',
      body: podNamed('p', { hostPID: true }),
    });
    expect({ warnings, notes }).toEqual({ warnings: [], notes: { [`${P}enforce-policy`]: 'privileged:latest' } });
  });
});

describe('templates', () => {
  const template = { metadata: { labels: { a: 'b' } }, spec: podNamed('').spec };
  const spec = { selector: { matchLabels: { a: 'b' } }, template };

  it('cause warnings, and are admitted', async () => {
    await namespace('n', { enforce: 'restricted' });
    const body = { metadata: { name: 'd' }, spec };
    const { warnings } = await said('create', 'deployments', { apiVersion: 'apps/v1', namespace: 'n', body });
    expect(warnings).toEqual([`would violate PodSecurity "restricted:latest": ${WORDS}`]);
  });

  it('cause warnings when their image is the file system of the node', async () => {
    await namespace('n', { enforce: 'baseline' });
    const ofHost = { ...template, spec: podNamed('', { containers: [{ name: 'c', image: 'host' }] }).spec };
    const body = { metadata: { name: 'd' }, spec: { ...spec, template: ofHost } };
    const { warnings } = await said('create', 'deployments', { apiVersion: 'apps/v1', namespace: 'n', body });
    expect(warnings).toEqual([expect.stringContaining('would violate PodSecurity "baseline:latest": host image')]);
  });

  it('are found inside the template of a job', async () => {
    await namespace('n', { warn: 'restricted' });
    const jobTemplate = { spec: { template: { spec: { ...podNamed('').spec, restartPolicy: 'Never' } } } };
    const body = { metadata: { name: 'j' }, spec: { schedule: '* * * * *', jobTemplate } };
    const { warnings } = await said('create', 'cronjobs', { apiVersion: 'batch/v1', namespace: 'n', body });
    expect(warnings).toEqual([`would violate PodSecurity "restricted:latest": ${WORDS}`]);
  });
});

it('namespaces need valid levels and releases in their labels', async () => {
  expect(await rejection(namespace('n', { enforce: 'strict', 'warn-version': '1.30' }))).toBe(
    'Namespace "n" is invalid: [metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "strict": must be one of privileged, baseline, restricted, ' +
      'metadata.labels[pod-security.kubernetes.io/warn-version]: Invalid value: "1.30": must be "latest" or "v1.x"]',
  );
});

it('namespaces cause warnings about running pods that violate a stricter level', async () => {
  await namespace('n', {});
  for (const name of ['b', 'a', 'c']) await server.create('pods', podNamed(name), { namespace: 'n' });
  await server.create('pods', podNamed('h', { hostNetwork: true }), { namespace: 'n' });
  const relabel = (labels: object) =>
    said('patch', 'namespaces', { namespace: '', name: 'n', patchType: 'merge', body: { metadata: { labels } } });
  const reasons = 'allowPrivilegeEscalation != false, unrestricted capabilities, runAsNonRoot != true, seccompProfile';
  expect((await relabel({ [`${P}enforce`]: 'restricted' })).warnings).toEqual([
    'existing pods in namespace "n" violate the new PodSecurity enforce level "restricted:latest"',
    `a (and 2 other pods): ${reasons}`,
    `h: host namespaces, ${reasons}`,
  ]);
  expect((await relabel({ [`${P}enforce`]: 'baseline' })).warnings).toEqual([]);
});
