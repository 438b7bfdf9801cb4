import { expect, test } from 'vitest';
import { create, update } from '../../../../../test/support/kinds/test-object.ts';
import { PodTemplate } from './pod-template.ts';

const template = (spec: object = {}) => ({
  metadata: { name: 't' },
  template: { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'i' }], ...spec } },
});

test('the pod in it gets its defaults', () => {
  const { object, errors } = create(PodTemplate, template());
  expect(errors).toEqual([]);
  expect(object.template.spec).toMatchObject({ restartPolicy: 'Always', terminationGracePeriodSeconds: 30 });
});

test('any pod will do, also one that runs once', () => {
  const { object, errors } = create(PodTemplate, template({ restartPolicy: 'Never', activeDeadlineSeconds: 5 }));
  expect(errors).toEqual([]);
  expect(update(PodTemplate, object, template()).errors).toEqual([]);
});

test('a pod that could not run is rejected', () => {
  expect(create(PodTemplate, { metadata: { name: 't' } }).errors).toEqual(['template.spec.containers: Required value']);
  const { errors } = create(PodTemplate, template({ ephemeralContainers: [{ name: 'e', image: 'i' }] }));
  expect(errors).toEqual([
    'template.spec.ephemeralContainers: Forbidden: ephemeral containers not allowed in pod template',
  ]);
});
