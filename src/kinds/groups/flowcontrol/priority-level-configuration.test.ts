import { expect, it } from 'vitest';
import { create } from '../../../../test/support/kinds/test-object.ts';
import { PriorityLevelConfiguration } from './priority-level-configuration.ts';

const level = (spec: object, name = 'l', annotations?: object) => ({ metadata: { name, annotations }, spec });
const limited = (parts: object) => ({
  type: 'Limited',
  limited: { limitResponse: { type: 'Reject' }, ...parts },
});
const queues = (queuing: object) => limited({ limitResponse: { type: 'Queue', queuing } });
const OLD = 'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares';
const AT = 'spec.limited';

it('a PriorityLevelConfiguration has default shares and queues', () => {
  expect(create(PriorityLevelConfiguration, level(queues({ handSize: 0 })))).toMatchObject({
    object: {
      spec: {
        limited: {
          nominalConcurrencyShares: 30,
          lendablePercent: 0,
          limitResponse: { queuing: { queues: 64, handSize: 8, queueLengthLimit: 50 } },
        },
      },
      status: {},
    },
    errors: [],
  });
});

it('a PriorityLevelConfiguration may have zero shares', () => {
  const { object } = create(PriorityLevelConfiguration, level(limited({ nominalConcurrencyShares: 0 })));
  expect(object.spec.limited?.nominalConcurrencyShares).toBe(0);
});

it.each<[string, object, ...string[]]>([
  ['no type', {}, 'spec.type: Required value'],
  ['another type', { type: 'Free' }, 'spec.type: Unsupported value: "Free": supported values: "Exempt", "Limited"'],
  [
    'the type of another',
    { type: 'Exempt' },
    "spec.type: Invalid value: \"Exempt\": must be 'Exempt' if and only if `name` is 'exempt'",
  ],
  ['no limits', { type: 'Limited' }, 'spec.limited: Required value: must not be empty when type is Limited'],
  ['both sorts', { ...limited({}), exempt: {} }, 'spec.exempt: Forbidden: must be nil if the type is Limited'],
  ['no answer', limited({ limitResponse: {} }), `${AT}.limitResponse.type: Required value`],
  [
    'another answer',
    limited({ limitResponse: { type: 'Shrug' } }),
    `${AT}.limitResponse.type: Unsupported value: "Shrug": supported values: "Queue", "Reject"`,
  ],
  [
    'queues that nobody waits in',
    limited({ limitResponse: { type: 'Reject', queuing: {} } }),
    `${AT}.limitResponse.queuing: Forbidden: must be nil if limited.limitResponse.type is not Limited`,
  ],
  [
    'no queues',
    limited({ limitResponse: { type: 'Queue' } }),
    `${AT}.limitResponse.queuing: Required value: must not be empty if limited.limitResponse.type is Limited`,
  ],
  [
    'shares out of bounds',
    limited({ nominalConcurrencyShares: -1, lendablePercent: 101, borrowingLimitPercent: -1 }),
    `${AT}.nominalConcurrencyShares: Invalid value: -1: must be a non-negative integer`,
    `${AT}.lendablePercent: Invalid value: 101: must be between 0 and 100, inclusive`,
    `${AT}.borrowingLimitPercent: Invalid value: -1: if specified, must be a non-negative integer`,
  ],
  [
    'queues below zero',
    queues({ queues: -1, handSize: -1, queueLengthLimit: -1 }),
    `${AT}.limitResponse.queuing.queueLengthLimit: Invalid value: -1: must be positive`,
    `${AT}.limitResponse.queuing.queues: Invalid value: -1: must be positive`,
    `${AT}.limitResponse.queuing.handSize: Invalid value: -1: must be positive`,
  ],
  [
    'more queues drawn than there are',
    queues({ queues: 4 }),
    `${AT}.limitResponse.queuing.handSize: Invalid value: 8: should not be greater than queues (4)`,
  ],
  [
    'too many to draw from',
    queues({ queues: 10_000_001 }),
    `${AT}.limitResponse.queuing.queues: Invalid value: 10000001: must not be greater than 10000000`,
    `${AT}.limitResponse.queuing.handSize: Invalid value: 8: required entropy bits of deckSize 10000001 and handSize 8 should not be greater than 60`,
  ],
])('a PriorityLevelConfiguration with %s is validated', (_what, spec, ...errors) => {
  expect(create(PriorityLevelConfiguration, level(spec)).errors).toEqual(errors);
});

it('a PriorityLevelConfiguration rejects the annotation of an older version', () => {
  expect(create(PriorityLevelConfiguration, level(limited({}), 'l', { [OLD]: '' })).errors).toEqual([
    `metadata.annotations: Forbidden: annotation '${OLD}' is forbidden`,
  ]);
});

it('a PriorityLevelConfiguration called exempt is never limited, but can lend seats', () => {
  const exempt = { nominalConcurrencyShares: 5, lendablePercent: 50 };
  expect(create(PriorityLevelConfiguration, level({ type: 'Exempt', exempt }, 'exempt')).errors).toEqual([]);
  expect(create(PriorityLevelConfiguration, level(limited({}), 'exempt')).errors).toEqual([
    "spec.type: Invalid value: \"Limited\": must be 'Exempt' if and only if `name` is 'exempt'",
    expect.stringMatching(/: spec of 'exempt' except the 'spec.exempt' field must equal the fixed value$/),
  ]);
});

it('a PriorityLevelConfiguration called catch-all has a fixed spec', () => {
  expect(
    create(PriorityLevelConfiguration, level(limited({ nominalConcurrencyShares: 5 }), 'catch-all')).errors,
  ).toEqual([]);
  expect(create(PriorityLevelConfiguration, level(limited({}), 'catch-all')).errors).toEqual([
    expect.stringMatching(/: spec of 'catch-all' must equal the fixed value$/),
  ]);
});
