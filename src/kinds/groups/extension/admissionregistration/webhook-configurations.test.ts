import { expect, it } from 'vitest';
import { testServer } from '../../../../../test/support/server.ts';
import { Namespace } from '../../core/namespace.ts';
import { MutatingWebhookConfiguration } from './mutating-webhook-configuration.ts';
import { ValidatingWebhookConfiguration } from './validating-webhook-configuration.ts';

const asked = { apiVersion: 'admissionregistration.k8s.io/v1', namespace: '' };
const rule = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] };
const webhook = {
  name: 'a.example.dev',
  clientConfig: { url: 'https://localhost:1/x' },
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
};

const start = () => testServer([Namespace, MutatingWebhookConfiguration, ValidatingWebhookConfiguration]);

async function faults(fields: object): Promise<string[]> {
  const api = await start();
  const object = { metadata: { name: 'x' }, webhooks: [{ ...webhook, ...fields }] };
  const error = await api.create('validatingwebhookconfigurations', object, asked).catch((caught) => caught);
  return (error.details?.causes ?? []).map(({ field, message }: { field: string; message: string }) => {
    return `${field.replace('webhooks[0].', '')}: ${message}`;
  });
}

it('webhooks have the defaults of Kubernetes', async () => {
  const api = await start();
  const service = { namespace: 'n', name: 's' };
  const object = {
    metadata: { name: 'x' },
    webhooks: [{ ...webhook, clientConfig: { service }, rules: [rule] }],
  };
  const made = await api.create('mutatingwebhookconfigurations', object, asked);
  expect(made.metadata.generation).toBe(1);
  expect(made.webhooks[0]).toEqual({
    ...webhook,
    clientConfig: { service: { ...service, port: 443 } },
    rules: [{ ...rule, scope: '*' }],
    failurePolicy: 'Fail',
    matchPolicy: 'Equivalent',
    namespaceSelector: {},
    objectSelector: {},
    reinvocationPolicy: 'Never',
    timeoutSeconds: 10,
  });
});

it('accepts a webhook that says the least', async () => {
  expect(await faults({})).toEqual([]);
});

it.each([
  [
    { name: 'short' },
    'name: Invalid value: "short": should be a domain with at least three segments separated by dots',
  ],
  [{ clientConfig: {} }, 'clientConfig: Required value: exactly one of url or service is required'],
  [{ sideEffects: 'Some' }, 'sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"'],
  [{ sideEffects: undefined }, 'sideEffects: Required value: must specify one of None, NoneOnDryRun'],
  [{ timeoutSeconds: 31 }, 'timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds'],
  [{ admissionReviewVersions: [] }, 'admissionReviewVersions: Required value: must specify one of v1, v1beta1'],
  [
    { admissionReviewVersions: ['v2'] },
    'admissionReviewVersions: Invalid value: ["v2"]: must include at least one of v1, v1beta1',
  ],
  [{ admissionReviewVersions: ['v1', 'v1'] }, 'admissionReviewVersions[1]: Invalid value: "v1": duplicate version'],
  [{ failurePolicy: 'Maybe' }, 'failurePolicy: Unsupported value: "Maybe": supported values: "Fail", "Ignore"'],
  [
    { clientConfig: { service: { namespace: 'n', name: 's', port: 0 } } },
    'clientConfig.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive',
  ],
  [
    { clientConfig: { service: { namespace: 'n', name: 's', path: 'x' } } },
    'clientConfig.service.path: Invalid value: "x": must start with a \'/\'',
  ],
  [
    { clientConfig: { service: { namespace: 'n', name: 's', path: '/a//b' } } },
    'clientConfig.service.path: Invalid value: "/a//b": segment[1] may not be empty',
  ],
])('rejects %j', async (fields, message) => {
  expect(await faults(fields)).toContain(message);
});

const format = '; desired format: https://host[/path]';

it.each([
  ['http://a', `Invalid value: "http": 'https' is the only allowed URL scheme${format}`],
  ['https://u@a', 'Invalid value: "u": user information is not permitted in the URL'],
  ['https://a#f', 'Invalid value: "f": fragments are not permitted in the URL'],
  ['https://a?q=1', 'Invalid value: "q=1": query parameters are not permitted in the URL'],
])('rejects the URL %s', async (url, message) => {
  expect(await faults({ clientConfig: { url } })).toEqual([`clientConfig.url: ${message}`]);
});

it.each([
  [{ operations: [] }, 'operations: Required value'],
  [
    { operations: ['GET'] },
    'operations[0]: Unsupported value: "GET": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"',
  ],
  [
    { operations: ['*', 'CREATE'] },
    'operations: Invalid value: ["*","CREATE"]: if \'*\' is present, must not specify other operations',
  ],
  [{ apiVersions: [''] }, 'apiVersions[0]: Required value'],
  [
    { resources: ['pods/*', 'pods/log'] },
    'resources[1]: Invalid value: "pods/log": if \'pods/*\' is present, must not specify pods/log',
  ],
  [
    { resources: ['*/*', 'pods'] },
    'resources: Invalid value: ["*/*","pods"]: if \'*/*\' is present, must not specify other resources',
  ],
  [
    { resources: ['*', 'pods'] },
    'resources: Invalid value: ["*","pods"]: if \'*\' is present, must not specify other resources without subresources',
  ],
])('rejects a rule with %j', async (fields, message) => {
  expect(await faults({ rules: [{ ...rule, ...fields }] })).toContain(`rules[0].${message}`);
});

it('rejects two webhooks of one name', async () => {
  const api = await start();
  const twice = { metadata: { name: 'x' }, webhooks: [webhook, webhook] };
  await expect(api.create('validatingwebhookconfigurations', twice, asked)).rejects.toThrow(
    'webhooks[1].name: Duplicate value: "a.example.dev"',
  );
});

const input = (text: string, at: number) => ` | ${text}\n | ${'.'.repeat(at)}^`;

it.each([
  ['object.metadata.name ==', `compilation failed: ERROR: <input>:1:24: Syntax error: mismatched input '<EOF>'`],
  [
    'nothing == 1',
    `compilation failed: ERROR: <input>:1:1: undeclared reference to 'nothing' (in container '')\n${input('nothing == 1', 0)}`,
  ],
  ['params.x == 1', `compilation failed: ERROR: <input>:1:1: undeclared reference to 'params' (in container '')`],
  ["'text'", 'must evaluate to bool but got string'],
  ['object.spec.paused', 'must evaluate to bool but got dyn'],
])('rejects the match condition %s', async (expression, problem) => {
  const matchConditions = [
    { name: 'good', expression: "request.operation != 'DELETE'" },
    { name: 'c', expression },
  ];
  const [found, ...others] = await faults({ matchConditions });
  expect(others).toEqual([]);
  expect(found).toContain(`matchConditions[1].expression: Invalid value: ${JSON.stringify(expression)}: ${problem}`);
});
