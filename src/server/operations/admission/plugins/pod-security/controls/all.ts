/** All controls. Those of `baseline` come first, each level in the order of its messages. */
import { getOrInsert } from '../../../../../../base/collections/get-or-insert.ts';
import type { Control, ControlForm, PodLike, Violation } from '../control.ts';
import type { LevelVersion } from '../policy.ts';
import { capabilitiesBaseline, capabilitiesRestricted } from './capabilities.ts';
import { hostImage, hostNamespaces, hostPathVolumes, hostPorts, hostProbesAndHostLifecycle, sysctls } from './host.ts';
import {
  allowPrivilegeEscalation,
  privileged,
  procMount,
  procMountRestricted,
  runAsNonRoot,
  runAsUser,
  windowsHostProcess,
} from './privileges.ts';
import { appArmorProfile, seccompProfileBaseline, seccompProfileRestricted, seLinuxOptions } from './profiles.ts';
import { restrictedVolumes } from './volumes.ts';

export const allControls: readonly Control[] = [
  ...[appArmorProfile, capabilitiesBaseline, hostImage, hostNamespaces, hostPathVolumes, hostPorts],
  ...[
    hostProbesAndHostLifecycle,
    privileged,
    procMount,
    seLinuxOptions,
    seccompProfileBaseline,
    sysctls,
    windowsHostProcess,
  ],
  ...[allowPrivilegeEscalation, capabilitiesRestricted, procMountRestricted, restrictedVolumes],
  ...[runAsNonRoot, runAsUser, seccompProfileRestricted],
];

const known = new Map<string, readonly ControlForm[]>();

/** Returns the violations of a level of the standards by a pod, according to a release of Kubernetes. */
export function violations({ level, version }: LevelVersion, pod: PodLike): Violation[] {
  if (level === 'privileged') return [];
  return formsOf(level, version).flatMap(({ judge }) => judge(pod) ?? []);
}

/** The newest release: later ones use the same standards. */
const NEWEST = allControls.flatMap(({ forms }) => forms).reduce((newest, { since }) => Math.max(newest, since), 0);

function formsOf(level: 'baseline' | 'restricted', named: LevelVersion['version']): readonly ControlForm[] {
  // Labels can name any release number.
  const version = named === 'latest' ? named : Math.min(named, NEWEST);
  const key = `${level}:${version}`;
  return getOrInsert(known, key, () => choose(level, version));
}

function choose(level: 'baseline' | 'restricted', version: LevelVersion['version']): readonly ControlForm[] {
  const release = version === 'latest' ? Number.POSITIVE_INFINITY : version;
  const held = allControls
    .filter((control) => control.level === 'baseline' || level === 'restricted')
    .map((control) => ({ control, form: control.forms.findLast(({ since }) => since <= release) }))
    .filter(({ form }) => form !== undefined);
  const replaced = new Set(held.map(({ control }) => control.replaces));
  return held.filter(({ control }) => !replaced.has(control.id)).map(({ form }) => form!);
}

export function violationsText(found: readonly Violation[]): string {
  return found.map(({ reason, detail }) => `${reason} (${detail})`).join(', ');
}
