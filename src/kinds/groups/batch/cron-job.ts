import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid } from '../../../schema/field-error.ts';
import type { Fields, Rule, RuleContext, TypeOf } from '../../../schema/schema.ts';
import { age, NONE, name, type Sparse, UNSET, wide } from '../../columns/column.ts';
import { containerColumnsOf } from '../../columns/containers.ts';
import { elapsed } from '../../columns/elapsed.ts';
import { labelSelectorText } from '../../columns/selector.ts';
import { absentToUnlimited, type Limited, unlimitedToAbsent } from '../../conversion/unlimited.ts';
import { defineKind, type KubeObject, type ObjectOf } from '../../kind.ts';
import { ObjectReference } from '../../shapes/meta/references.ts';
import { isTimeZone, parseCronSchedule } from './cron-schedule.ts';
import { JobTemplateSpec } from './job-spec.ts';
import { jobWarnings } from './job-warnings.ts';

/** Job names append up to eleven characters to the name of the CronJob, and may have 63. */
const MAX_NAME_LENGTH = 52;

const TIME_ZONE_PREFIX = /TZ/;

/** Rejects a time zone in the schedule, except in one that was stored before the field timeZone existed. */
const schedule: Rule<string, unknown, { readonly timeZone?: string }> = (text, { old, parent }) => {
  const parsed = parseCronSchedule(text);
  const found: FieldError[] = 'error' in parsed ? [invalid('', text, parsed.error)] : [];
  if (!TIME_ZONE_PREFIX.test(text)) return found;
  if (old === undefined || !TIME_ZONE_PREFIX.test(old)) {
    found.push(invalid('', text, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead'));
  } else if (parent.timeZone !== undefined) {
    found.push(invalid('', text, 'cannot use both timeZone field and TZ or CRON_TZ in schedule'));
  }
  return found;
};

const ZONE_PART = /^(?![-]|\.{1,2}$)[A-Za-z.\-_0-9+]{1,14}$/;

const timeZone: Rule<string> = (name, { old }) => {
  if (name === old) return undefined;
  if (!name.split('/').every((part) => ZONE_PART.test(part))) return invalid('', name, `unknown time zone ${name}`);
  if (name.toLowerCase() === 'local') {
    return invalid('', name, 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones');
  }
  return isTimeZone(name) ? undefined : invalid('', name, `unknown time zone ${name}`);
};

const fields = {
  schedule: s.string(
    'When to start Jobs, in cron syntax: minute, hour, day of month, month, day of week, as in `*/15 * * * *`; or a macro such as `@hourly`. Read in timeZone.',
    { required: true, rules: [schedule] },
  ),
  timeZone: s.string('Time zone the schedule is read in, as an IANA name such as Europe/Berlin. Defaults to UTC.', {
    rules: [timeZone],
  }),
  startingDeadlineSeconds: s.int64(
    'How many seconds after its scheduled time a Job may still be started when it was missed. Later it is skipped and counts as missed. Without it there is no deadline.',
    { min: 0 },
  ),
  concurrencyPolicy: s.enum(
    ['Allow', 'Forbid', 'Replace'],
    'What to do when a Job is due while an earlier one is still running: `Allow` runs both, `Forbid` skips the new one, `Replace` deletes the running one first. Defaults to Allow.',
    { default: 'Allow' },
  ),
  suspend: s.boolean('Whether to stop creating Jobs. Jobs that already run are not affected. Defaults to false.', {
    default: false,
  }),
  jobTemplate: s.use(JobTemplateSpec, 'Template of the Jobs to create.', { zero: true }),
  successfulJobsHistoryLimit: s.int32(
    'Number of Jobs that completed successfully to keep; older ones are deleted. Defaults to 3 (unlimited in batch/v2alpha1).',
    { min: 0 },
  ),
  failedJobsHistoryLimit: s.int32(
    'Number of failed Jobs to keep; older ones are deleted. Defaults to 1 (unlimited in batch/v2alpha1).',
    { min: 0 },
  ),
};

const specOf = <const F extends Fields>(own: F) =>
  s.struct('CronJobSpec', 'Desired behavior of the CronJob: which Jobs it creates, and when.', own);

const CronJobSpec = specOf({
  ...fields,
  successfulJobsHistoryLimit: s.use(fields.successfulJobsHistoryLimit, { default: 3 }),
  failedJobsHistoryLimit: s.use(fields.failedJobsHistoryLimit, { default: 1 }),
});

/** History limits. In batch/v2alpha1 an absent one means no limit; 0 keeps nothing. */
const HISTORY_LIMITS = ['successfulJobsHistoryLimit', 'failedJobsHistoryLimit'];

/** Creates Jobs on a schedule. */
export const CronJob = defineKind({
  kind: 'CronJob',
  short: ['cj'],
  categories: ['all'],
  scope: 'Namespaced',
  description: 'Creates Jobs from a template on a repeating schedule in cron syntax.',
  versions: {
    'batch/v1': {},
    'batch/v1beta1': { orphansByDefault: true },
    'batch/v2alpha1': {
      fields: { spec: specOf(fields) },
      toHub: (cronJob: Limited) => absentToUnlimited(cronJob, HISTORY_LIMITS),
      fromHub: (cronJob: Limited) => unlimitedToAbsent(cronJob, HISTORY_LIMITS),
      orphansByDefault: true,
    },
  },
  fields: {
    spec: CronJobSpec,
    status: s.struct('CronJobStatus', 'Most recently observed state of the CronJob, written by its controller.', {
      active: s.list(ObjectReference, 'References to the Jobs that are currently running.'),
      lastScheduleTime: s.time('Most recent scheduled time for which a Job was created.'),
      lastSuccessfulTime: s.time('When a Job of this CronJob last completed successfully.'),
    }),
  },
  subresources: { status: true },
  generation: true,
  rules: [nameLength],
  warnings: cronJobWarnings,
  columns: ({ text, integer }) => [
    name,
    text('Schedule', 'The schedule in cron syntax.', ({ spec }) => spec?.schedule ?? ''),
    text('Timezone', 'Time zone of the schedule.', ({ spec }) => spec?.timeZone ?? NONE),
    { ...text('Suspend', 'Whether no more Jobs are created.', suspendText), type: 'boolean' },
    integer('Active', 'Number of running Jobs.', ({ status }) => status?.active?.length),
    text('Last Schedule', 'Time since a Job was last scheduled.', ({ status }, now) => {
      return status?.lastScheduleTime ? elapsed(status.lastScheduleTime, now) : NONE;
    }),
    age,
    ...[
      ...containerColumnsOf<WithSpec>(({ spec }) => spec?.jobTemplate?.spec?.template),
      text('Selector', 'Label selector in the template of the Jobs.', ({ spec }) => {
        return labelSelectorText(spec?.jobTemplate?.spec?.selector);
      }),
    ].map(wide),
  ],
});
export type CronJob = ObjectOf<typeof CronJob>;

type WithSpec = KubeObject & { spec: TypeOf<typeof CronJobSpec> };

function nameLength({ metadata }: KubeObject, { operation }: RuleContext): readonly FieldError[] {
  const { name = '' } = metadata;
  return operation === 'create' && name.length > MAX_NAME_LENGTH
    ? [invalid('metadata.name', name, `must be no more than ${MAX_NAME_LENGTH} characters`)]
    : [];
}

function suspendText({ spec }: Sparse<WithSpec>): string {
  if (spec?.suspend === undefined) return UNSET;
  return spec.suspend ? 'True' : 'False';
}

function cronJobWarnings(cronJob: WithSpec, old: WithSpec | undefined): string[] {
  const { schedule, jobTemplate } = cronJob.spec;
  const found = jobWarnings(cronJob, old, { spec: jobTemplate.spec, path: 'spec.jobTemplate.spec' });
  if (old && schedule.includes('TZ')) {
    const more = 'see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details';
    found.push(`cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, ${more}`);
  }
  return found;
}
