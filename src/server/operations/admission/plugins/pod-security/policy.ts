/** Parses the Pod Security labels of a namespace. */
import { memoized } from '../../../../../base/collections/memoized.ts';
import { type FieldError, invalid } from '../../../../../schema/field-error.ts';

type Level = 'privileged' | 'baseline' | 'restricted';
const levels: readonly Level[] = ['privileged', 'baseline', 'restricted'];

export interface LevelVersion {
  readonly level: Level;
  /** The minor release of Kubernetes 1 whose standards apply. */
  readonly version: number | 'latest';
}

/** The levels at which a pod is rejected, annotated in the audit log, and warned about. */
export interface Policy {
  readonly enforce: LevelVersion;
  readonly audit: LevelVersion;
  readonly warn: LevelVersion;
  /** Errors of the labels. If there are any, the strictest level is enforced, without annotations and warnings. */
  readonly errors: readonly FieldError[];
}

export const LABEL_PREFIX = 'pod-security.kubernetes.io/';

const PRIVILEGED: LevelVersion = { level: 'privileged', version: 'latest' };
const NO_POLICY: Policy = { enforce: PRIVILEGED, audit: PRIVILEGED, warn: PRIVILEGED, errors: [] };

/** Returns the policy of a namespace. Cached by the labels of a stored namespace, which never change. */
export function policyOf(labels: Readonly<Record<string, string>> | undefined): Policy {
  return labels ? read(labels) : NO_POLICY;
}

export function isOpen({ enforce, audit, warn, errors }: Policy): boolean {
  return errors.length === 0 && [enforce, audit, warn].every(({ level }) => level === 'privileged');
}

/** Compares levels: above 0 when `a` is stricter. */
export function compareLevels(a: Level, b: Level): number {
  return levels.indexOf(a) - levels.indexOf(b);
}

export function levelText({ level, version }: LevelVersion): string {
  return `${level}:${version === 'latest' ? version : `v1.${version}`}`;
}

const read = memoized((labels: Readonly<Record<string, string>>): Policy => {
  if (!Object.keys(labels).some((key) => key.startsWith(LABEL_PREFIX))) return NO_POLICY;
  const errors: FieldError[] = [];
  const levelOf = (mode: string, otherwise: Level): Level | undefined => {
    const text = labels[LABEL_PREFIX + mode];
    if (text === undefined) return undefined;
    const level = levels.find((each) => each === text);
    if (!level) errors.push(invalid(path(mode), text, `must be one of ${levels.join(', ')}`));
    return level ?? otherwise;
  };
  const versionOf = (mode: string): LevelVersion['version'] | undefined => {
    const text = labels[`${LABEL_PREFIX}${mode}-version`];
    if (text === undefined || text === 'latest') return text;
    const match = /^v1\.(0|[1-9][0-9]*)$/.exec(text);
    if (!match) errors.push(invalid(path(`${mode}-version`), text, 'must be "latest" or "v1.x"'));
    return match ? Number(match[1]) : 'latest';
  };
  const enforced = levelOf('enforce', 'restricted');
  const isClear = errors.length === 0;
  const enforce: LevelVersion = { level: enforced ?? 'privileged', version: versionOf('enforce') ?? 'latest' };
  const audit: LevelVersion = {
    level: levelOf('audit', 'privileged') ?? 'privileged',
    version: versionOf('audit') ?? 'latest',
  };
  const warned = levelOf('warn', 'privileged');
  const version = versionOf('warn');
  // Violations that are rejected also cause warnings, so that clients learn of them when they write a template.
  const follows = warned === undefined && enforced !== undefined && isClear && enforced !== 'privileged';
  const warn: LevelVersion = follows
    ? { level: enforced, version: version ?? enforce.version }
    : { level: warned ?? 'privileged', version: version ?? 'latest' };
  return { enforce, audit, warn, errors };
});

const path = (label: string) => `metadata.labels[${LABEL_PREFIX}${label}]`;
