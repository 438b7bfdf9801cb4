import { FlagError, flag, type ValuesOf } from '../../../base/flag.ts';
import { type AuthorizationMode, authorizationModes } from '../../../server/access/authz/modes.ts';
import { admissionPluginNames } from '../../../server/operations/admission/names.ts';
import { remoteUpgradesFlag } from '../../flags/remote-upgrades.ts';
import { requestLimitFlags } from '../../flags/request-limits.ts';
import * as value from '../../flags/values.ts';

export const apiFlags = [
  flag('--authorization-mode <modes>', {
    help: `authorizers to ask, in this order; any of ${authorizationModes.join(', ')}`,
    parse: modes,
    default: ['Node', 'RBAC'] as readonly AuthorizationMode[],
  }),
  flag('--authorization-webhook-config-file <file>', {
    help: 'kubeconfig of the webhook that authorization mode Webhook asks',
  }),
  flag('--enable-admission-plugins <names>', {
    help: 'admission plugins to run besides the default ones',
    parse: value.namesOf(admissionPluginNames),
  }),
  flag('--disable-admission-plugins <names>', {
    help: 'default admission plugins not to run',
    parse: value.namesOf(admissionPluginNames),
  }),
  flag('--enable-priority-and-fairness [bool]', {
    help: 'queue requests by flow schema and priority level',
    parse: value.boolean,
    default: true,
  }),
  flag('--max-requests-inflight <count>', {
    help: 'maximum number of concurrent read requests; with priority and fairness, it adds to the seats of all levels',
    parse: value.count,
    default: 400,
  }),
  ...requestLimitFlags,
  remoteUpgradesFlag,
  flag('--service-cluster-ip-range <cidr>', {
    help: 'addresses of services',
    parse: value.serviceRange,
    defaultText: '10.96.0.0/16, and the next free range for further clusters',
    remembered: true,
    isAgreed: true,
    fixed: (from) => `services of this cluster have addresses in ${from}: --service-cluster-ip-range cannot change`,
  }),
  flag('--service-node-port-range <range>', {
    help: 'node ports of services',
    parse: value.portRange,
    default: { first: 30_000, last: 32_767 },
    defaultText: '30000-32767',
    remembered: true,
    isAgreed: true,
  }),
] as const;

export type ApiFlags = ValuesOf<typeof apiFlags>;

function modes(text: string): readonly AuthorizationMode[] {
  const names = value.namesOf(authorizationModes)(text);
  if (new Set(names).size < names.length) throw new FlagError('Each mode may be given only once.');
  return names as readonly AuthorizationMode[];
}
