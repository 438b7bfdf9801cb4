/** The description of a fault, as a cluster with `--faults` and `quarterdeck/testing` accept it. */
import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid, notSupported } from '../../../schema/field-error.ts';
import type { Rule, TypeOf } from '../../../schema/schema.ts';
import type { Verb } from '../../kind.ts';

const CODES = [409, 429, 500, 503];

const knownCode: Rule<number> = (code) =>
  CODES.includes(code) ? undefined : notSupported('', String(code), CODES.map(String));

const VERBS: Readonly<Record<Verb, true>> = {
  get: true,
  list: true,
  watch: true,
  create: true,
  update: true,
  patch: true,
  delete: true,
  deletecollection: true,
};

const knownVerb: Rule<string> = (verb) =>
  Object.hasOwn(VERBS, verb) ? undefined : notSupported('', verb, Object.keys(VERBS));

const share: Rule<number> = (rate) =>
  rate > 0 && rate <= 1 ? undefined : invalid('', rate, 'must be greater than 0 and at most 1');

const words = (description: string) => s.list(s.string(), description);
const milliseconds = (description: string) => s.int64(description, { min: 1 });

/** Describes the requests that are disturbed, and how. */
export const FaultSpec = s.struct(
  'FaultSpec',
  'Which requests are disturbed, and how.',
  {
    verbs: s.list(s.string({ rules: [knownVerb] }), 'Verbs of the requests, such as update or watch. Defaults to all.'),
    resources: words('Plurals of the resources, such as pods. Defaults to all.'),
    namespaces: words('Namespaces of the requests. Defaults to all requests, also those without a namespace.'),
    users: words('Names of the users whose requests are disturbed. Defaults to all.'),
    rate: s.number('Share of matching requests that are disturbed, greater than 0 and at most 1. Defaults to 1.', {
      rules: [share],
    }),
    error: s.int32('Code that requests fail with: 409, 429, 500 or 503. Without it, they do not fail.', {
      rules: [knownCode],
    }),
    latencyMilliseconds: milliseconds('Milliseconds by which requests are performed later.'),
    dropWatchesAfterMilliseconds: milliseconds('Milliseconds after which watches end.'),
    staleWatchesMilliseconds: milliseconds('Milliseconds by which the events of watches arrive later.'),
  },
  { rules: [hasEffect] },
);
export type FaultSpec = TypeOf<typeof FaultSpec>;

interface Effects {
  readonly error?: number;
  readonly latencyMilliseconds?: number;
  readonly dropWatchesAfterMilliseconds?: number;
  readonly staleWatchesMilliseconds?: number;
}

function hasEffect(spec: Effects): FieldError | undefined {
  const { error, latencyMilliseconds, dropWatchesAfterMilliseconds, staleWatchesMilliseconds } = spec;
  const effects = [error, latencyMilliseconds, dropWatchesAfterMilliseconds, staleWatchesMilliseconds];
  if (effects.some((effect) => effect !== undefined)) return undefined;
  return invalid(
    'error',
    '',
    'one of error, latencyMilliseconds, dropWatchesAfterMilliseconds or staleWatchesMilliseconds is required',
  );
}
