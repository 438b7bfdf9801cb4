import { beforeEach, expect, it } from 'vitest';
import { type Asked, type TestServer, testServer } from '../../../../test/support/server.ts';
import { allKinds } from '../../../kinds/all.ts';
import { validatingAdmissionPolicy } from './policies/validating.ts';
import { validatingAdmissionWebhook } from './webhooks/validating.ts';

const REGISTRATION: Asked = { apiVersion: 'admissionregistration.k8s.io/v1', namespace: '' };
const rule = (changes: object = {}) => ({
  ...{ operations: ['CREATE'], apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments'] },
  ...changes,
});
const OTHERS = 'deployments in apps/v1beta2, deployments in apps/v1beta1, deployments in extensions/v1beta1';

let api: TestServer;
beforeEach(async () => {
  api = await testServer(allKinds, { admission: [validatingAdmissionPolicy, validatingAdmissionWebhook] });
});

const warningsOf = async (plural: string, body: object) =>
  (await api.notes('create', plural, { ...REGISTRATION, body })).warnings ?? [];

const policy = (matchPolicy: string, ...resourceRules: object[]) =>
  warningsOf('validatingadmissionpolicies', {
    metadata: { name: 'p' },
    spec: { matchConstraints: { matchPolicy, resourceRules }, validations: [{ expression: 'true' }] },
  });

it('warns about a policy that other versions of its resource bypass', async () => {
  expect(await policy('Exact', rule())).toEqual([
    `spec.matchConstraints.matchPolicy: Exact does not apply to requests for ${OTHERS}; Equivalent does`,
  ]);
});

it.each<[string, string, object[]]>([
  ['matches equivalent requests', 'Equivalent', [rule()]],
  ['names all versions', 'Exact', [rule({ apiGroups: ['*'], apiVersions: ['*'] })]],
  [
    'has a rule for every group',
    'Exact',
    [rule({ apiVersions: ['*'] }), rule({ apiGroups: ['extensions'], apiVersions: ['*'] })],
  ],
  ['is about a resource with one version', 'Exact', [rule({ apiGroups: [''], resources: ['configmaps'] })]],
  ['names no resource', 'Exact', [rule({ resources: ['*'] })]],
])('does not warn about a policy that %s', async (_, matchPolicy, rules) => {
  expect(await policy(matchPolicy, ...rules)).toEqual([]);
});

it.each(['validatingwebhookconfigurations', 'mutatingwebhookconfigurations'])('warns about %s', async (plural) => {
  const webhook = (name: string, matchPolicy: string) => ({
    ...{ name, matchPolicy, rules: [rule()], clientConfig: { url: 'https://hook.example' } },
    ...{ sideEffects: 'None', admissionReviewVersions: ['v1'] },
  });
  const webhooks = [webhook('a.example.com', 'Equivalent'), webhook('b.example.com', 'Exact')];
  expect(await warningsOf(plural, { metadata: { name: 'w' }, webhooks })).toEqual([
    `webhooks[1].matchPolicy: Exact does not apply to requests for ${OTHERS}; Equivalent does`,
  ]);
});

it('allows the deletion of policies and configurations, whatever they contain', async () => {
  await policy('Exact', rule());
  await api.delete('validatingadmissionpolicies', 'p', REGISTRATION);
  expect((await api.list('validatingadmissionpolicies', REGISTRATION)).items).toEqual([]);
});
