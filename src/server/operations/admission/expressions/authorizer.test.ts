import { expect, it } from 'vitest';
import { ConfigMap } from '../../../../kinds/groups/core/configuration/config-map.ts';
import { compileMatchCondition } from '../../../../kinds/groups/extension/admissionregistration/expressions/policy-compiler.ts';
import { ALLOW, type Attributes, type Decision, NO_OPINION, NO_RULES } from '../../../access/authz/authorizer.ts';
import type { AdmissionRequest } from '../../../objects/admission/request.ts';
import { Activation, type RequestContext, RequestValues } from './activation.ts';
import { matchesConditions } from './evaluation.ts';

const user = { name: 'ann', groups: ['dev'] };
const request = {
  resource: { kind: ConfigMap, version: ConfigMap.hub },
  namespace: 'here',
  name: 'x',
  user,
} as unknown as AdmissionRequest;

/** Evaluates an expression with an authorizer that answers as given; returns the result and the checked attributes. */
async function ask(expression: string, answer: (asked: Attributes) => Decision | Promise<Decision>) {
  const asked: Attributes[] = [];
  const authorizer = {
    authorize(attributes: Attributes) {
      asked.push(attributes);
      return answer(attributes);
    },
    rulesFor: () => NO_RULES,
  };
  const turns = { isSpent: () => false, nextTurn: async () => {} };
  const context = { core: { authorizer, turns }, request } as unknown as RequestContext;
  const activation = new Activation(new RequestValues(context), null);
  const isTrue = await matchesConditions([compileMatchCondition(expression, false)], activation);
  return { isTrue, asked };
}

it('checks the resource of the request', async () => {
  const { isTrue, asked } = await ask("authorizer.requestResource.check('delete').allowed()", () => NO_OPINION);
  expect(isTrue).toBe(false);
  const resource = { group: '', version: '*', resource: 'configmaps', subresource: '', namespace: 'here', name: 'x' };
  expect(asked).toEqual([{ user, verb: 'delete', ...resource, fieldSelector: undefined, labelSelector: undefined }]);
});

it('checks other resources and paths, also for service accounts', async () => {
  const pods =
    "authorizer.group('').resource('pods').subresource('log').fieldSelector('a=b').check('get').reason() == 'no'";
  const path = "authorizer.serviceAccount('default', 'robot').path('/metrics').check('get').allowed()";
  const answer = ({ path }: Attributes): Decision => (path ? ALLOW : { verdict: 'deny', reason: 'no' });
  const { isTrue, asked } = await ask(`${pods} && ${path}`, answer);
  expect(isTrue).toBe(true);
  expect(asked[0]).toMatchObject({
    resource: 'pods',
    subresource: 'log',
    fieldSelector: [{ key: 'a', operator: 'In' }],
  });
  expect(asked[1]).toMatchObject({ path: '/metrics', user: { name: 'system:serviceaccount:default:robot' } });
});

it('waits for decisions, makes each check once, and exposes errors', async () => {
  const check = "authorizer.requestResource.check('get')";
  const late = () => Promise.resolve({ verdict: 'noOpinion', reason: '', error: 'down' } as const);
  const { isTrue, asked } = await ask(`!${check}.allowed() && ${check}.error() == 'down'`, late);
  expect(isTrue).toBe(true);
  expect(asked).toHaveLength(1);
});
