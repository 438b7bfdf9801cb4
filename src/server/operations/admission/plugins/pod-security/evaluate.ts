import { getOrInsert } from '../../../../../base/collections/get-or-insert.ts';
import type { ControlForm, PodLike, Violation } from './control.ts';
import { allControls } from './controls/all.ts';
import type { LevelVersion } from './policy.ts';

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

/** Formats several violations in one line. */
export function violationsText(found: readonly Violation[]): string {
  return found.map(({ reason, detail }) => `${reason} (${detail})`).join(', ');
}
