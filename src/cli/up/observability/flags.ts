import { flag, type ValuesOf } from '../../../base/flag.ts';
import * as value from '../../flags/values.ts';
import { levels } from '../../output/logger.ts';

const AUDIT_VERSION = 'audit.k8s.io/v1';

export const logFlags = [
  flag('--log-level <level>', {
    help: 'least severe messages to log',
    choices: levels,
    defaultText: 'info, or warn on a terminal',
  }),
] as const;

export const auditFlags = [
  flag('--audit-policy-file <file>', { help: 'audit policy: which requests to record, and how much of each' }),
  flag('--audit-log-path <file>', {
    help: 'audit log; - for standard output, "" for none',
    defaultText: 'DIR/audit/audit.log',
  }),
  flag('--audit-log-maxage <days>', {
    help: 'days to keep rotated files; 0: forever',
    parse: value.count,
    default: 30,
  }),
  flag('--audit-log-maxbackup <count>', { help: 'rotated files to keep; 0: all', parse: value.count, default: 10 }),
  flag('--audit-log-maxsize <megabytes>', {
    help: 'size at which the file is rotated',
    parse: value.positiveCount,
    default: 100,
  }),
  flag('--audit-log-format <format>', { help: 'format of events', choices: ['json'], default: 'json' }),
  flag('--audit-webhook-config-file <file>', { help: 'kubeconfig of a webhook that events are also sent to' }),
  flag('--audit-webhook-initial-backoff <time>', {
    help: 'wait before the first retry',
    parse: value.duration,
    default: 10_000,
    defaultText: '10s',
  }),
  flag('--audit-webhook-mode <mode>', { help: 'how events are sent', choices: ['batch'], default: 'batch' }),
  flag('--audit-webhook-version <version>', {
    help: 'API version of events',
    choices: [AUDIT_VERSION],
    default: AUDIT_VERSION,
  }),
  flag('--audit-webhook-batch-buffer-size <count>', {
    help: 'events to buffer; further ones are dropped',
    parse: value.positiveCount,
    default: 10_000,
  }),
  flag('--audit-webhook-batch-max-size <count>', {
    help: 'maximum number of events in a batch',
    parse: value.positiveCount,
    default: 400,
  }),
  flag('--audit-webhook-batch-max-wait <time>', {
    help: 'maximum wait for a batch to fill',
    parse: value.duration,
    default: 30_000,
    defaultText: '30s',
  }),
  flag('--audit-webhook-batch-throttle-enable [bool]', {
    help: 'limit the rate of batches',
    parse: value.boolean,
    default: true,
  }),
  flag('--audit-webhook-batch-throttle-qps <number>', {
    help: 'average number of batches per second',
    parse: value.rate,
    default: 10,
  }),
  flag('--audit-webhook-batch-throttle-burst <count>', {
    help: 'batches that may be sent at once after a pause',
    parse: value.positiveCount,
    default: 15,
  }),
  flag('--audit-webhook-truncate-enabled [bool]', {
    help: 'leave request and response objects out of large events',
    parse: value.boolean,
    default: false,
  }),
  flag('--audit-webhook-truncate-max-batch-size <bytes>', {
    help: 'maximum size of a batch',
    parse: value.positiveCount,
    default: 10 * 1024 * 1024,
  }),
  flag('--audit-webhook-truncate-max-event-size <bytes>', {
    help: 'maximum size of an event',
    parse: value.positiveCount,
    default: 100 * 1024,
  }),
] as const;

export type AuditFlags = ValuesOf<typeof auditFlags>;
