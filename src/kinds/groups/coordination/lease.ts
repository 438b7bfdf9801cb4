import { s } from '../../../schema/builders.ts';
import type { FieldError } from '../../../schema/field-error.ts';
import { forbidden, invalid, notSupported } from '../../../schema/field-error.ts';
import { qualifiedName } from '../../../schema/names.ts';
import type { Rule } from '../../../schema/schema.ts';
import { age, name, text } from '../../columns/column.ts';
import { defineKind, type ObjectOf } from '../../kind.ts';

const STRATEGIES = ['OldestEmulationVersion'];

const aboveZero: Rule<number> = (seconds) => (seconds > 0 ? undefined : invalid('', seconds, 'must be greater than 0'));

/** One that is known here, or somebody else's with a domain in front. */
const strategy: Rule<string> = (word) => {
  if (word.includes('/')) return qualifiedName(word).map((complaint) => invalid('', word, complaint));
  return STRATEGIES.includes(word) ? undefined : notSupported('', word, STRATEGIES);
};

/** Says who is in charge of something, and until when. */
export const Lease = defineKind({
  group: 'coordination.k8s.io',
  kind: 'Lease',
  plural: 'leases',
  scope: 'Namespaced',
  description: 'Says who is in charge of something and until when; whoever is must renew it in time.',
  versions: { 'coordination.k8s.io/v1': {} },
  fields: {
    spec: s.object(
      'LeaseSpec',
      {
        holderIdentity: s.string({ description: 'Who holds the lease.' }),
        leaseDurationSeconds: s.int32({
          rules: [aboveZero],
          description: 'How long others must wait after the last renewal before they may take it.',
        }),
        acquireTime: s.microTime({ description: 'When the holder took it.' }),
        renewTime: s.microTime({ description: 'When the holder last renewed it.' }),
        leaseTransitions: s.int32({ min: 0, description: 'How often the holder has changed.' }),
        strategy: s.string({ rules: [strategy], description: 'How the holder is chosen, where somebody chooses it.' }),
        preferredHolder: s.string({ description: 'Who should take the lease over from the holder.' }),
      },
      { default: {}, rules: [preferenceNeedsStrategy], description: 'Who holds it.' },
    ),
  },
  requiresVersion: true,
  createOnUpdate: true,
  columns: [name, text('Holder', 'Who holds it.', ({ spec }) => spec?.holderIdentity ?? ''), age],
});
export type Lease = ObjectOf<typeof Lease>;

function preferenceNeedsStrategy({ preferredHolder, strategy: chosen }: any): FieldError | undefined {
  return preferredHolder && !chosen
    ? forbidden('preferredHolder', 'may only be specified if `strategy` is defined')
    : undefined;
}
