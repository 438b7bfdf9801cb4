/**
 * The settings that all servers on one store must agree on, such as the range of services. The store keeps those of the first
 * server; others adopt them, and one that was told otherwise is rejected.
 */
import { isDeepStrictEqual } from 'node:util';
import { type Flag, longName, propertyOf } from '../../../base/flag.ts';
import { type Store, StoreConflict } from '../../../store/index.ts';
import { CliError } from '../../output/cli-error.ts';
import { type Settings, upFlags } from '../flags.ts';

/** Where the store keeps them: outside of /registry/, so that they are never served. */
const KEY = '/quarterdeck/settings';
const FORMAT = 1;
/**
 * Level of this release. A release that stores what earlier ones would damage or lose has a higher one, and records it here once
 * no server of a lower level is left: from then on, those are rejected.
 */
const LEVEL = 1;

const agreedFlags = upFlags.filter(({ isAgreed }) => isAgreed);
const nameOf = (flag: Flag) => propertyOf(flag) as keyof Settings;
const agreedNames = agreedFlags.map(nameOf);

/** Settings of the cluster; a flag that no server has had a value for is absent. */
export type AgreedSettings = Partial<Settings>;

/** Resolves with what the servers of the store have agreed on; nothing when this is the first one. */
export async function readAgreed(store: Store): Promise<AgreedSettings> {
  return (await readRow(store)).agreed;
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
export async function agreeOn(store: Store, settings: Settings): Promise<void> {
  for (;;) {
    const { agreed, level, revision } = await readRow(store);
    checkAgreed(settings, agreed);
    const added = agreedNames.filter((name) => agreed[name] === undefined && settings[name] !== undefined);
    if (added.length === 0) return;
    const merged = { ...agreed, ...Object.fromEntries(added.map((name) => [name, settings[name]])) };
    const value = Buffer.from(JSON.stringify({ format: FORMAT, level, settings: merged }));
    try {
      await store.commit([{ key: KEY, value, expect: revision }]);
      return;
    } catch (error) {
      if (!(error instanceof StoreConflict)) throw error;
    }
  }
}

interface SettingsRow {
  readonly agreed: AgreedSettings;
  /** Minimum level of servers. */
  readonly level: number;
  readonly revision: number;
}

async function readRow(store: Store): Promise<SettingsRow> {
  const row = await store.get(KEY);
  if (!row) return { agreed: {}, level: LEVEL, revision: 0 };
  const {
    format,
    level = 0,
    settings,
  } = JSON.parse(row.value.toString()) as {
    readonly format: number;
    readonly level?: number;
    readonly settings: AgreedSettings;
  };
  if (format !== FORMAT) {
    throw new CliError(`the settings of the cluster in this store have format ${format}, which this qd does not know`);
  }
  if (level > LEVEL) {
    throw new CliError(
      `the cluster in this store needs servers of level ${level}, and this qd has level ${LEVEL}; install the release of its other servers here`,
    );
  }
  return { agreed: settings, level, revision: row.revision };
}

function textOf(value: unknown): string {
  return value !== null && typeof value === 'object' ? Object.values(value).join('-') : String(value);
}
