import { describe, expect, test } from 'vitest';
import { create, shown, update } from '../../../../test/support/kinds/test-object.ts';
import type { Kind } from '../../kind.ts';
import { CronJob } from './cron-job.ts';

const kind: Kind<any> = CronJob;

const pods = (spec: object = {}) => ({
  spec: { containers: [{ name: 'main', image: 'busybox:1.36' }], restartPolicy: 'OnFailure', ...spec },
});

const cronJob = (spec: object = {}, job: object = {}, metadata: object = {}) => ({
  metadata: { name: 'a', ...metadata },
  spec: { schedule: '*/5 * * * *', jobTemplate: { spec: { template: pods(), ...job } }, ...spec },
});

describe('defaults', () => {
  test.each(['batch/v1', 'batch/v1beta1'])('in %s', (apiVersion) => {
    const { object, errors } = create(kind, cronJob(), { apiVersion });
    expect(errors).toEqual([]);
    expect(object.spec).toMatchObject({
      concurrencyPolicy: 'Allow',
      suspend: false,
      successfulJobsHistoryLimit: 3,
      failedJobsHistoryLimit: 1,
    });
  });

  test('an absent limit in batch/v2alpha1 means no limit, unlike zero', () => {
    const apiVersion = 'batch/v2alpha1';
    const { object, errors } = create(kind, cronJob({ failedJobsHistoryLimit: 0 }), { apiVersion });
    expect(errors).toEqual([]);
    expect(object.spec).toMatchObject({ successfulJobsHistoryLimit: 2147483647, failedJobsHistoryLimit: 0 });
    const view = shown(kind, object, apiVersion);
    expect(view.spec).not.toHaveProperty('successfulJobsHistoryLimit');
    expect(view.spec.failedJobsHistoryLimit).toBe(0);
  });

  test('the Job template has no defaults', () => {
    const { spec } = create(kind, cronJob()).object.spec.jobTemplate;
    expect(Object.keys(spec)).toEqual(['template']);
    expect(spec.template.spec.dnsPolicy).toBe('ClusterFirst');
  });
});

describe('errors have the messages of Kubernetes', () => {
  test.each<[object, ...string[]]>([
    [{ schedule: '' }, 'spec.schedule: Required value'],
    [{ schedule: undefined }, 'spec.schedule: Required value'],
    [{ schedule: 'error' }, 'spec.schedule: Invalid value: "error": expected exactly 5 fields, found 1: [error]'],
    [{ schedule: '@hourly' }],
    [{ schedule: '@every 1h' }],
    [
      { schedule: 'TZ=UTC 0 * * * *' },
      'spec.schedule: Invalid value: "TZ=UTC 0 * * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead',
    ],
    [{ timeZone: 'Europe/Berlin' }],
    [{ timeZone: 'Etc/GMT+5' }],
    [{ timeZone: 'Mars/Olympus' }, 'spec.timeZone: Invalid value: "Mars/Olympus": unknown time zone Mars/Olympus'],
    [{ timeZone: '../etc' }, 'spec.timeZone: Invalid value: "../etc": unknown time zone ../etc'],
    [
      { timeZone: 'local' },
      'spec.timeZone: Invalid value: "local": timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones',
    ],
    [
      { concurrencyPolicy: 'Never' },
      'spec.concurrencyPolicy: Unsupported value: "Never": supported values: "Allow", "Forbid", "Replace"',
    ],
    [
      { startingDeadlineSeconds: -1 },
      'spec.startingDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0',
    ],
    [
      { failedJobsHistoryLimit: -1 },
      'spec.failedJobsHistoryLimit: Invalid value: -1: must be greater than or equal to 0',
    ],
  ])('%j', (spec, ...errors) => {
    expect(create(kind, cronJob(spec)).errors).toEqual(errors);
  });

  test.each<[object, string]>([
    [
      { selector: { matchLabels: { a: 'b' } } },
      'selector: Invalid value: {"matchLabels":{"a":"b"}}: `selector` will be auto-generated',
    ],
    [{ manualSelector: true }, 'manualSelector: Unsupported value: true: supported values: "nil", "false"'],
    [{ parallelism: -1 }, 'parallelism: Invalid value: -1: must be greater than or equal to 0'],
    [
      { template: pods({ restartPolicy: 'Always' }) },
      'template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"',
    ],
  ])('a Job with %j', (job, error) => {
    expect(create(kind, cronJob({}, job)).errors).toEqual([`spec.jobTemplate.spec.${error}`]);
  });

  test('a name too long for Job names is rejected', () => {
    const name = 'x'.repeat(53);
    expect(create(kind, cronJob({}, {}, { name })).errors).toEqual([
      `metadata.name: Invalid value: "${name}": must be no more than 52 characters`,
    ]);
    expect(create(kind, cronJob({}, {}, { name: name.slice(1) })).errors).toEqual([]);
  });
});

describe('objects stored before a rule existed', () => {
  const stored = (spec: object, name = 'a') => ({ ...create(kind, cronJob(spec, {}, { name })).object });

  test('a long name can still be updated', () => {
    const name = 'x'.repeat(60);
    expect(update(kind, stored({}, name), cronJob({}, {}, { name })).errors).toEqual([]);
  });

  test('a time zone in the schedule may stay, but not together with timeZone', () => {
    const schedule = 'CRON_TZ=UTC 0 * * * *';
    expect(update(kind, stored({ schedule }), cronJob({ schedule })).errors).toEqual([]);
    expect(update(kind, stored({ schedule }), cronJob({ schedule, timeZone: 'UTC' })).errors).toEqual([
      `spec.schedule: Invalid value: "${schedule}": cannot use both timeZone field and TZ or CRON_TZ in schedule`,
    ]);
  });

  test('a time zone that no longer exists may stay', () => {
    expect(update(kind, stored({ timeZone: 'Old/Zone' }), cronJob({ timeZone: 'Old/Zone' })).errors).toEqual([]);
  });
});

test('the template of the Jobs can change', () => {
  const old = create(kind, cronJob()).object;
  expect(update(kind, old, cronJob({}, { completions: 4, managedBy: 'example.com/me' })).errors).toEqual([]);
});
