import { describe, expect, test } from 'vitest';
import { create, update } from '../../../../test/support/kinds/test-object.ts';
import type { Kind } from '../../kind.ts';
import { Job } from './job.ts';

const kind: Kind<any> = Job;

const pods = (spec: object = {}, labels?: object) => ({
  metadata: labels ? { labels } : {},
  spec: { containers: [{ name: 'main', image: 'busybox:1.36' }], restartPolicy: 'Never', ...spec },
});

const job = (spec: object = {}, metadata: object = {}) => ({
  metadata: { name: 'a', uid: 'uid-1', ...metadata },
  spec: { template: pods(), ...spec },
});

const created = (spec: object = {}, metadata: object = {}) => create(kind, job(spec, metadata)).object;

/** Writes the same object again, with changes to its spec. */
const changed = (old: any, spec: object) => update(kind, old, { ...old, spec: { ...old.spec, ...spec } }).errors;

describe('defaults', () => {
  test('defaults', () => {
    const { object, errors } = create(kind, job());
    expect(errors).toEqual([]);
    expect(object.spec).toMatchObject({
      completions: 1,
      parallelism: 1,
      backoffLimit: 6,
      completionMode: 'NonIndexed',
      suspend: false,
      manualSelector: false,
      podReplacementPolicy: 'TerminatingOrFailed',
    });
    expect(object.status).toEqual({});
  });

  test('a Job with only parallelism has no completions', () => {
    const { spec } = created({ parallelism: 3 });
    expect(spec.parallelism).toBe(3);
    expect(spec).not.toHaveProperty('completions');
  });

  test('a Job with only completions has a parallelism of 1', () => {
    expect(created({ completions: 3 }).spec).toMatchObject({ completions: 3, parallelism: 1 });
  });

  test('backoffLimitPerIndex removes the overall limit', () => {
    const { spec } = created({ completionMode: 'Indexed', completions: 2, backoffLimitPerIndex: 1 });
    expect(spec.backoffLimit).toBe(2147483647);
  });

  test('pods are replaced after they have failed when there is a podFailurePolicy', () => {
    const podFailurePolicy = { rules: [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] }] };
    const { spec } = created({ podFailurePolicy });
    expect(spec.podReplacementPolicy).toBe('Failed');
    expect(spec.podFailurePolicy.rules[0].onPodConditions).toEqual([{ type: 'DisruptionTarget', status: 'True' }]);
  });

  test("labels are those of the template, before the system's own are added", () => {
    expect(created({ template: pods({}, { app: 'x' }) }).metadata.labels).toEqual({ app: 'x' });
    expect(created().metadata).not.toHaveProperty('labels');
  });
});

describe('the selector', () => {
  const own = {
    'batch.kubernetes.io/controller-uid': 'uid-1',
    'batch.kubernetes.io/job-name': 'a',
    'controller-uid': 'uid-1',
    'job-name': 'a',
  };

  test('is generated from the UID, with labels in the template', () => {
    const { spec } = created({ template: pods({}, { app: 'x' }) });
    expect(spec.selector).toEqual({ matchLabels: { 'batch.kubernetes.io/controller-uid': 'uid-1' } });
    expect(spec.template.metadata.labels).toEqual({ app: 'x', ...own });
  });

  test('of a client is kept with manualSelector', () => {
    const selector = { matchLabels: { app: 'x' } };
    const { object, errors } = create(kind, job({ selector, manualSelector: true, template: pods({}, { app: 'x' }) }));
    expect(errors).toEqual([]);
    expect(object.spec.selector).toEqual(selector);
    expect(object.spec.template.metadata.labels).toEqual({ app: 'x' });
  });

  test('is required and must match with manualSelector', () => {
    expect(create(kind, job({ manualSelector: true })).errors).toEqual([
      'spec.selector: Required value',
      'spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`',
    ]);
  });

  test('that an update leaves out is reported as missing and as changed', () => {
    const { errors } = update(kind, created(), job());
    expect(errors).toEqual(
      expect.arrayContaining([
        'spec.selector: Required value',
        'spec.selector: Invalid value: null: field is immutable',
      ]),
    );
  });

  test('of a client is rejected without manualSelector', () => {
    const selector = { matchLabels: { app: 'x' } };
    expect(create(kind, job({ selector, template: pods({}, { app: 'x' }) })).errors).toEqual([
      'spec.selector: Invalid value: {"matchLabels":{"batch.kubernetes.io/controller-uid":"uid-1","app":"x"}}: `selector` not auto-generated',
    ]);
  });

  test('conflicting labels are rejected', () => {
    expect(create(kind, job({ template: pods({}, { 'job-name': 'b' }) })).errors).toEqual([
      expect.stringMatching(/^spec\.template\.metadata\.labels\[job-name\]: Invalid value: \{.*\}: must be 'a'$/),
    ]);
  });
});

describe('errors have the messages of Kubernetes', () => {
  const indexed = { completionMode: 'Indexed', completions: 5 };
  const byRule = (rule: object) => ({ podFailurePolicy: { rules: [rule] } });
  const exits = { operator: 'In', values: [1] };
  const at = 'spec.podFailurePolicy.rules[0]';

  test.each<[object, string[]]>([
    [{ parallelism: -1 }, ['spec.parallelism: Invalid value: -1: must be greater than or equal to 0']],
    [{ completions: -1 }, ['spec.completions: Invalid value: -1: must be greater than or equal to 0']],
    [{ backoffLimit: -1 }, ['spec.backoffLimit: Invalid value: -1: must be greater than or equal to 0']],
    [
      { activeDeadlineSeconds: 0 },
      ['spec.activeDeadlineSeconds: Invalid value: 0: must be greater than or equal to 1'],
    ],
    [
      { ttlSecondsAfterFinished: -1 },
      ['spec.ttlSecondsAfterFinished: Invalid value: -1: must be greater than or equal to 0'],
    ],
    [
      { template: pods({ restartPolicy: 'Always' }) },
      ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
    ],
    [
      { template: pods({ restartPolicy: undefined }) },
      ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
    ],
    [
      { completionMode: 'Sorted' },
      ['spec.completionMode: Unsupported value: "Sorted": supported values: "NonIndexed", "Indexed"'],
    ],
    [
      { completionMode: 'Indexed', parallelism: 1 },
      ['spec.completions: Required value: when completion mode is Indexed'],
    ],
    [
      { ...indexed, parallelism: 100_001 },
      ['spec.parallelism: Invalid value: 100001: must be less than or equal to 100000 when completion mode is Indexed'],
    ],
    [
      { ...indexed, maxFailedIndexes: 6, backoffLimitPerIndex: 1 },
      ['spec.maxFailedIndexes: Invalid value: 6: must be less than or equal to completions'],
    ],
    [
      { ...indexed, maxFailedIndexes: 1 },
      ['spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified'],
    ],
    [
      { ...indexed, completions: 100_001, backoffLimitPerIndex: 1, parallelism: 10_001 },
      [
        'spec.maxFailedIndexes: Required value: must be specified when completions is above 100000',
        'spec.parallelism: Invalid value: 10001: must be less than or equal to 10000 when completions are above 100000 and used with backoff limit per index',
      ],
    ],
    [{ backoffLimitPerIndex: 1 }, ['spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode']],
    [
      { podReplacementPolicy: 'Now' },
      ['spec.podReplacementPolicy: Unsupported value: "Now": supported values: "Failed", "TerminatingOrFailed"'],
    ],
    [
      { ...byRule({ action: 'Count', onExitCodes: exits }), podReplacementPolicy: 'TerminatingOrFailed' },
      ['spec.podReplacementPolicy: Unsupported value: "TerminatingOrFailed": supported values: "Failed"'],
    ],
    [
      { ...byRule({ action: 'Count', onExitCodes: exits }), template: pods({ restartPolicy: 'OnFailure' }) },
      [
        'spec.template.spec.restartPolicy: Invalid value: "OnFailure": only "Never" is supported when podFailurePolicy is specified',
      ],
    ],
    [
      byRule({ onExitCodes: exits }),
      [`${at}.action: Required value: valid values: ["Count" "FailIndex" "FailJob" "Ignore"]`],
    ],
    [
      byRule({ action: 'Panic', onExitCodes: exits }),
      [`${at}.action: Unsupported value: "Panic": supported values: "Count", "FailIndex", "FailJob", "Ignore"`],
    ],
    [
      byRule({ action: 'FailIndex', onExitCodes: exits }),
      [`${at}.action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set`],
    ],
    [
      byRule({ action: 'Count' }),
      [`${at}: Invalid value: specifying one of OnExitCodes and OnPodConditions is required`],
    ],
    [
      byRule({ action: 'Count', onExitCodes: exits, onPodConditions: [{ type: 'Ready' }] }),
      [`${at}: Invalid value: specifying both OnExitCodes and OnPodConditions is not supported`],
    ],
    [
      byRule({ action: 'Count', onExitCodes: { operator: 'In', values: [0, 2, 1, 1] } }),
      [
        `${at}.onExitCodes.values[0]: Invalid value: 0: must not be 0 for the In operator`,
        `${at}.onExitCodes.values[3]: Duplicate value: 1`,
        `${at}.onExitCodes.values: Invalid value: [0,2,1,1]: must be ordered`,
      ],
    ],
    [
      byRule({ action: 'Count', onExitCodes: { values: [] } }),
      [
        `${at}.onExitCodes.operator: Required value: valid values: ["In" "NotIn"]`,
        `${at}.onExitCodes.values: Invalid value: []: at least one value is required`,
      ],
    ],
    [
      byRule({ action: 'Count', onExitCodes: { ...exits, containerName: 'other' } }),
      [
        `${at}.onExitCodes.containerName: Invalid value: "other": must be one of the container or initContainer names in the pod template`,
      ],
    ],
    [
      byRule({ action: 'Count', onPodConditions: [{ type: 'Ready', status: 'Maybe' }] }),
      [`${at}.onPodConditions[0].status: Unsupported value: "Maybe": supported values: "False", "True", "Unknown"`],
    ],
    [
      { successPolicy: { rules: [{ succeededCount: 1 }] } },
      ['spec.successPolicy: Invalid value: {"rules":[{"succeededCount":1}]}: requires indexed completion mode'],
    ],
    [
      { ...indexed, successPolicy: { rules: [] } },
      [
        'spec.successPolicy.rules: Required value: at least one rules must be specified when the successPolicy is specified',
      ],
    ],
    [
      { ...indexed, successPolicy: { rules: [{}] } },
      [
        'spec.successPolicy.rules[0]: Required value: at least one of succeededCount or succeededIndexes must be specified',
      ],
    ],
    [
      { ...indexed, successPolicy: { rules: [{ succeededIndexes: '0-2,2', succeededCount: 6 }] } },
      [
        'spec.successPolicy.rules[0].succeededIndexes: Invalid value: "0-2,2": error parsing succeededIndexes: non-increasing order, previous: 2, current: 2',
        'spec.successPolicy.rules[0].succeededCount: Invalid value: 6: must be less than or equal to 5 (the number of specified completions)',
        'spec.successPolicy.rules[0].succeededCount: Invalid value: 6: must be less than or equal to 0 (the number of indexes in the specified succeededIndexes field)',
      ],
    ],
    [
      { managedBy: 'me' },
      [expect.stringMatching(/^spec\.managedBy: Invalid value: "me": must be a domain-prefixed path/)],
    ],
    [{ managedBy: `example.com/${'x'.repeat(60)}` }, ['spec.managedBy: Too long: may not be more than 63 bytes']],
  ])('%j', (spec, errors) => {
    expect(create(kind, job(spec)).errors).toEqual(errors);
  });

  test('an indexed Job whose longest pod name is too long is rejected', () => {
    const name = 'x'.repeat(62);
    expect(create(kind, job(indexed, { name })).errors).toEqual([
      `metadata.name: Invalid value: "${name}": will not able to create pod with invalid DNS label: ${name}-4`,
    ]);
    expect(create(kind, job({}, { name })).errors).toEqual([]);
  });
});

describe('immutable fields', () => {
  test('parallelism, suspend and similar fields can change', () => {
    expect(changed(created(), { parallelism: 5, suspend: true, activeDeadlineSeconds: 9, backoffLimit: 1 })).toEqual(
      [],
    );
  });

  test.each<[object, object, RegExp]>([
    [{}, { completions: 2 }, /^spec\.completions: Invalid value: 2: field is immutable$/],
    [
      { completionMode: 'Indexed', completions: 1 },
      { completions: 2 },
      /^spec\.completions: Invalid value: 2: can only be modified in tandem with spec\.parallelism$/,
    ],
    [
      {},
      { template: pods({ restartPolicy: 'OnFailure' }) },
      /^spec\.template: Invalid value: \{.*\}: field is immutable$/,
    ],
    [{}, { managedBy: 'example.com/me' }, /^spec\.managedBy: Invalid value: "example\.com\/me": field is immutable$/],
    [
      { completionMode: 'Indexed' },
      { completionMode: 'NonIndexed' },
      /^spec\.completionMode: Invalid value: "NonIndexed": field is immutable$/,
    ],
  ])('a Job with %j rejects %j', (spec, change, error) => {
    expect(changed(created(spec), change)).toContainEqual(expect.stringMatching(error));
  });

  test('an indexed Job can be resized if completions equals parallelism', () => {
    expect(changed(created({ completionMode: 'Indexed', completions: 1 }), { completions: 2, parallelism: 2 })).toEqual(
      [],
    );
  });

  describe('in a suspended Job without pods', () => {
    const idle = created({ suspend: true });
    const withSpec = (spec: object, metadata: object = {}) => ({
      template: {
        metadata: { ...idle.spec.template.metadata, ...metadata },
        spec: { ...idle.spec.template.spec, ...spec },
      },
    });

    test.each([
      [{ nodeSelector: { disk: 'ssd' } }],
      [{ tolerations: [{ key: 'gpu', operator: 'Exists' }] }],
      [{ containers: [{ ...idle.spec.template.spec.containers[0], resources: { requests: { cpu: '2' } } }] }],
    ])('%j can change', (spec) => {
      expect(changed(idle, withSpec(spec))).toEqual([]);
    });

    test('pod annotations can change', () => {
      expect(changed(idle, withSpec({}, { annotations: { why: 'test' } }))).toEqual([]);
    });

    test('the image cannot change', () => {
      const containers = [{ ...idle.spec.template.spec.containers[0], image: 'other:1' }];
      expect(changed(idle, withSpec({ containers }))).toEqual([
        expect.stringMatching(/^spec\.template\.spec: Invalid value: .*: field is immutable$/),
      ]);
    });

    test('nothing can change while pods are active', () => {
      const busy = { ...idle, status: { active: 1, startTime: '2030-01-01T00:00:00Z' } };
      expect(changed(busy, withSpec({ nodeSelector: { disk: 'ssd' } }))).toEqual([
        expect.stringMatching(/^spec\.template: Invalid value: .*: field is immutable$/),
      ]);
    });
  });
});

test('status.successful is a field selector', () => {
  expect(kind.selectable?.['status.successful']?.({ status: { succeeded: 2 } })).toBe('2');
  expect(kind.selectable?.['status.successful']?.({ status: {} })).toBe('0');
});
