import { expect, it } from 'vitest';
import { atOnce, countTurns, NEVER_SPENT } from '../../../../../test/support/divided-work.ts';
import { definitionErrors } from './definition-rules.ts';

const definition = (clientConfig: object): any => ({
  metadata: { name: 'things.example.com' },
  spec: {
    ...{ group: 'example.com', scope: 'Cluster', names: { plural: 'things', singular: 'thing', kind: 'Thing' } },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    conversion: { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } },
  },
  status: { acceptedNames: {}, storedVersions: ['v1'] },
});

it('the client of a conversion webhook has the same errors as others', () => {
  const texts = (clientConfig: object) =>
    atOnce(definitionErrors(definition(clientConfig), { old: undefined, subresource: undefined, pace: NEVER_SPENT }))
      .filter(({ field }) => field.startsWith('spec.conversion'))
      .map(({ field, message }) => `${field}: ${message}`);
  expect(texts({ url: 'https://user@example.com?a=b' })).toEqual([
    expect.stringContaining('webhookClientConfig.url: Invalid value: "user": user information is not permitted'),
    expect.stringContaining('webhookClientConfig.url: Invalid value: "a=b": query parameters are not permitted'),
  ]);
  expect(texts({ service: { name: 'a', port: 70_000, path: 'bc' } })).toEqual([
    'spec.conversion.webhookClientConfig.service.namespace: Required value: service namespace is required',
    expect.stringContaining('webhookClientConfig.service.port: Invalid value: 70000: port is not valid'),
    expect.stringContaining(`webhookClientConfig.service.path: Invalid value: "bc": must start with a '/'`),
  ]);
  expect(texts({})).toEqual([
    'spec.conversion.webhookClientConfig: Required value: exactly one of url or service is required',
  ]);
});

it('rules of any kind are checked in turns', () => {
  const rules = Array.from({ length: 50 }, (_, i) => ({ rule: i === 49 ? 'self.other' : `self.a != '${i}'` }));
  const ruled = definition({ url: 'https://example.com' });
  ruled.spec.versions[0].schema.openAPIV3Schema = {
    type: 'object',
    properties: {
      spec: {
        ...{ type: 'object', properties: { a: { type: 'string', maxLength: 9 } } },
        'x-kubernetes-validations': rules,
      },
    },
  };
  const { value, turns } = countTurns(
    definitionErrors(ruled, { old: undefined, subresource: undefined, pace: { isSpent: () => true } }),
  );
  expect(turns).toBeGreaterThan(rules.length);
  expect(value.filter(({ field }) => field.includes('validations')).map(({ field }) => field)).toEqual([
    'spec.versions[0].schema.openAPIV3Schema.properties[spec].x-kubernetes-validations[49].rule',
  ]);
});
