import { expect, test } from 'vitest';
import { create, update } from '../../../../test/support/kinds/test-object.ts';
import type { Kind } from '../../kind.ts';
import { ReplicationController } from './replication-controller.ts';

const kind: Kind<any> = ReplicationController;

const pods = (labels: object = { app: 'a' }, spec: object = {}) => ({
  metadata: { labels },
  spec: { containers: [{ name: 'main', image: 'busybox:1.36' }], ...spec },
});

const controller = (spec: object = {}) => ({ metadata: { name: 'a' }, spec: { template: pods(), ...spec } });

test('selector, labels and size follow where nothing is said', () => {
  const { object, errors } = create(kind, controller());
  expect(errors).toEqual([]);
  expect(object.spec).toMatchObject({ replicas: 1, selector: { app: 'a' } });
  expect(object.metadata.labels).toEqual({ app: 'a' });
  expect(object.status).toEqual({ replicas: 0 });
});

test.each<[object, ...string[]]>([
  [{ replicas: -1 }, 'spec.replicas: Invalid value: -1: must be greater than or equal to 0'],
  [{ template: undefined }, 'spec.selector: Required value', 'spec.template: Required value'],
  [{ template: pods({}) }, 'spec.selector: Required value'],
  [
    { selector: { app: 'b' } },
    'spec.template.metadata.labels: Invalid value: {"app":"a"}: `selector` does not match template `labels`',
  ],
  [
    { template: pods(undefined, { restartPolicy: 'Never', activeDeadlineSeconds: 3 }) },
    'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
    'spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicationController is not Supported',
  ],
])('%j', (spec, ...errors) => {
  expect(create(kind, controller(spec)).errors).toEqual(errors);
});

test('the selector may change', () => {
  const old = create(kind, controller()).object;
  const body = controller({ selector: { app: 'b' }, template: pods({ app: 'b' }) });
  expect(update(kind, old, body).errors).toEqual([]);
});

test('no more pods are ready than there are', () => {
  const old = create(kind, controller()).object;
  const body = { ...controller(), status: { replicas: 1, readyReplicas: 2 } };
  expect(update(kind, old, body, { subresource: 'status' }).errors).toEqual([
    'status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas',
  ]);
});
