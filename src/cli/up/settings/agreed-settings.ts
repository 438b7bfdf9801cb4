/**
 * The settings that all servers on one store must agree on, such as the range of services. The store keeps those of the first
 * server; others adopt them, and one that was told otherwise is rejected.
 */
import { isDeepStrictEqual } from 'node:util';
import { minorOf, type Release } from '../../../api/release.ts';
import { checkRelease } from '../../../assembly/store/releases/check-release.ts';
import { changeClusterRow, readClusterRow } from '../../../assembly/store/releases/cluster-row.ts';
import { type Flag, longName, propertyOf } from '../../../base/flag.ts';
import type { Store } from '../../../store/index.ts';
import { CliError } from '../../output/cli-error.ts';
import { type Settings, upFlags } from '../flags.ts';

const agreedFlags = upFlags.filter(({ isAgreed }) => isAgreed);
const nameOf = (flag: Flag) => propertyOf(flag) as keyof Settings;
const agreedNames = agreedFlags.map(nameOf);

/** Settings of the cluster; a flag that no server has had a value for is absent. */
export type AgreedSettings = Partial<Settings>;

/**
 * Resolves with what the servers of the store have agreed on; nothing when this is the first one. Rejects when this release
 * may not be among them.
 */
export async function readAgreed(store: Store, own: Release): Promise<AgreedSettings> {
  const row = await readClusterRow(store);
  checkRelease(row, own);
  return row.settings;
}

/** Throws when a setting of this server, from its command line or its data directory, differs from that of the cluster. */
export function checkAgreed(values: Partial<Settings>, agreed: AgreedSettings): void {
  const differences = agreedFlags.flatMap((flag) => {
    const name = nameOf(flag);
    const [own, theirs] = [values[name], agreed[name]];
    if (own === undefined || theirs === undefined || isDeepStrictEqual(own, theirs)) return [];
    return [`${longName(flag)} is ${textOf(theirs)} in the cluster, and ${textOf(own)} here`];
  });
  if (differences.length === 0) return;
  throw new CliError(
    `this server does not agree with the cluster in its store: ${differences.join('; ')}; ` +
      'start it with the settings of the cluster, in a new --data-dir if this one has others',
  );
}

/** Records the settings of this server where the cluster has none yet. Throws where another server was first. */
export async function agreeOn(store: Store, settings: Settings, own: Release): Promise<void> {
  await changeClusterRow(store, (row) => {
    checkRelease(row, own);
    const agreed: AgreedSettings = row.settings;
    checkAgreed(settings, agreed);
    const added = agreedNames.filter((name) => agreed[name] === undefined && settings[name] !== undefined);
    if (added.length === 0) return undefined;
    const merged = { ...agreed, ...Object.fromEntries(added.map((name) => [name, settings[name]])) };
    const isFirst = row.revision === 0;
    return { ...row, ...(isFirst && { level: own.level, release: minorOf(own.version) }), settings: merged };
  });
}

function textOf(value: unknown): string {
  return value !== null && typeof value === 'object' ? Object.values(value).join('-') : String(value);
}
