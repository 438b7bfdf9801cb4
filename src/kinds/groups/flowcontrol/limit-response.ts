/** Handling of requests above the concurrency limit: they wait in queues, or are rejected. */
import { s } from '../../../schema/builders.ts';
import { type FieldError, forbidden, invalid, notSupported, required } from '../../../schema/field-error.ts';
import type { ObjectType } from '../../../schema/schema.ts';

const types = ['Queue', 'Reject'];
const MAX_QUEUES = 10_000_000;
/** Bits of the hash that picks the queues of a flow. */
const MAX_ENTROPY_BITS = 60;

const queuing = {
  queues: s.int32(
    'Number of queues of the priority level. More queues mean fewer flows per queue, so that a busy flow delays fewer others. From 1 to 10000000; defaults to 64.',
    { omitZero: true, default: 64 },
  ),
  handSize: s.int32(
    'Number of queues that are picked for each flow; a request joins the shortest of them. Must not exceed queues; defaults to 8.',
    { omitZero: true, default: 8 },
  ),
  queueLengthLimit: s.int32(
    'Maximum number of requests waiting in a queue. Further ones are rejected. Must be positive; defaults to 50.',
    { omitZero: true, default: 50 },
  ),
};

const response = {
  type: s.string('`Queue` makes excess requests wait, `Reject` answers them with status 429 at once. Required.', {
    zero: true,
  }),
  queuing: s.object(
    'QueuingConfiguration',
    'How excess requests wait. Required when type is Queue; otherwise it must not be set.',
    queuing,
    { rules: [fitsTogether] },
  ),
};

export const LimitResponse = s.object(
  'LimitResponse',
  'What happens to requests that exceed the concurrency limit of their priority level.',
  response,
  { rules: [typeAndContent] },
);

function typeAndContent({ type, queuing: queues }: ObjectType<typeof response>): FieldError | undefined {
  switch (type) {
    case 'Reject':
      return queues && forbidden('queuing', 'must be nil if limited.limitResponse.type is not Limited');
    case 'Queue':
      return queues ? undefined : required('queuing', 'must not be empty if limited.limitResponse.type is Limited');
    default:
      return type ? notSupported('type', type, types) : required('type');
  }
}

function fitsTogether({ queues, handSize, queueLengthLimit }: ObjectType<typeof queuing>): FieldError[] {
  const found = queueLengthLimit > 0 ? [] : [invalid('queueLengthLimit', queueLengthLimit, 'must be positive')];
  if (queues <= 0) found.push(invalid('queues', queues, 'must be positive'));
  else if (queues > MAX_QUEUES) found.push(invalid('queues', queues, `must not be greater than ${MAX_QUEUES}`));
  const problem = handProblem(queues, handSize);
  return problem ? [...found, invalid('handSize', handSize, problem)] : found;
}

function handProblem(queues: number, hand: number): string | undefined {
  if (hand <= 0) return 'must be positive';
  if (hand > queues) return `should not be greater than queues (${queues})`;
  return Math.ceil(Math.log2(queues) * hand) > MAX_ENTROPY_BITS
    ? `required entropy bits of deckSize ${queues} and handSize ${hand} should not be greater than ${MAX_ENTROPY_BITS}`
    : undefined;
}
