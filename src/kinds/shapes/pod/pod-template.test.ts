import { expect, test } from 'vitest';
import { decode } from '../../../schema/decode/decode.ts';
import { validate } from '../../../schema/validate.ts';
import { PodTemplateSpec } from './pod-template.ts';

const containers = [{ name: 'main', image: 'x', resources: { limits: { cpu: '1' } }, ports: [{ containerPort: 80 }] }];
const template = (fields: object) => decode(PodTemplateSpec, fields);

function errors(fields: object, subresource?: string): string[] {
  const context = { operation: 'create', old: undefined, subresource, apiVersion: 'apps/v1' } as const;
  return validate(PodTemplateSpec, template(fields), context).map(({ field, message }) => `${field}: ${message}`);
}

test('a template gets the defaults of a pod spec, but not those of a pod', () => {
  const { metadata, spec }: any = template({ spec: { containers, hostNetwork: true } });
  expect(metadata).toEqual({});
  expect(spec).toMatchObject({ restartPolicy: 'Always', dnsPolicy: 'ClusterFirst', securityContext: {} });
  expect(spec).not.toHaveProperty('enableServiceLinks');
  expect(spec.containers[0].resources).toEqual({ limits: { cpu: '1' } });
  expect(spec.containers[0].ports).toEqual([{ containerPort: 80, protocol: 'TCP' }]);
});

test('an empty template lacks containers', () => {
  expect(errors({})).toEqual(['spec.containers: Required value']);
});

test('labels, annotations and the spec are checked; images may be padded, as placeholders are', () => {
  const metadata = { labels: { 'a b': 'c' }, annotations: { 'a b': 'c' } };
  const found = errors({ metadata, spec: { containers: [{ name: 'main', image: ' ' }], dnsPolicy: 'None' } });
  expect(found.map((error) => error.slice(0, error.indexOf(':')))).toEqual(['spec.dnsConfig', 'labels', 'annotations']);
});

test('nobody looks into a template', () => {
  expect(errors({ spec: { containers, ephemeralContainers: [{ name: 'e', image: 'x' }] } })).toEqual([
    'spec.ephemeralContainers: Forbidden: ephemeral containers not allowed in pod template',
  ]);
});
