import { s } from '../../../schema/builders.ts';
import { type FieldError, forbidden, invalid } from '../../../schema/field-error.ts';
import type { Rule } from '../../../schema/schema.ts';
import { age, name } from '../../columns/column.ts';
import { defineKind, type ObjectOf } from '../../kind.ts';
import { leaseStrategy } from './strategy.ts';

const positive: Rule<number> = (seconds) => (seconds > 0 ? undefined : invalid('', seconds, 'must be greater than 0'));

/** Names the holder of a role or resource, until it expires. */
export const Lease = defineKind({
  kind: 'Lease',
  scope: 'Namespaced',
  description:
    'A claim to a role or resource that its holder must renew in time, used for leader election and for the heartbeats of nodes. Others may take over a lease that has expired.',
  versions: { 'coordination.k8s.io/v1': {} },
  fields: {
    spec: s.struct(
      'LeaseSpec',
      'Who holds the lease, and until when.',
      {
        holderIdentity: s.string('Identity of the current holder. Empty means that nobody holds the lease.'),
        leaseDurationSeconds: s.int32(
          'Seconds that others must wait after renewTime before they may take the lease over. Must be greater than 0.',
          { rules: [positive] },
        ),
        acquireTime: s.microTime('When the current holder acquired the lease.'),
        renewTime: s.microTime('When the current holder last renewed the lease.'),
        leaseTransitions: s.int32('Number of times the lease has changed hands.', { min: 0 }),
        strategy: s.string(
          'How a coordinated leader election picks the holder: OldestEmulationVersion, or a strategy of your own with a domain prefix. Without it, the candidates decide among themselves.',
          { rules: [leaseStrategy] },
        ),
        preferredHolder: s.string(
          'Identity of a better holder, to whom the current one should give up the lease. Allowed only with a strategy.',
        ),
      },
      { rules: [preferredHolderNeedsStrategy] },
    ),
  },
  requiresVersion: true,
  createOnUpdate: true,
  columns: ({ text }) => [
    name,
    text('Holder', 'Identity of the holder.', ({ spec }) => spec?.holderIdentity ?? ''),
    age,
  ],
});
export type Lease = ObjectOf<typeof Lease>;

interface Preference {
  readonly preferredHolder?: string;
  readonly strategy?: string;
}

function preferredHolderNeedsStrategy({ preferredHolder, strategy: chosen }: Preference): FieldError | undefined {
  return preferredHolder && !chosen
    ? forbidden('preferredHolder', 'may only be specified if `strategy` is defined')
    : undefined;
}
