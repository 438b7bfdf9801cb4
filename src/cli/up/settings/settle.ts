/** Settings of a cluster: from the command line, else from its data directory, else the default. */
import { FlagError, longName, propertyOf } from '../../../base/flag.ts';
import { withoutUndefined } from '../../../base/json/tree.ts';
import { defaultStore, storeDriver, storeDrivers } from '../../../store/drivers.ts';
import { DEFAULT_NAME } from '../../flags/cluster.ts';
import { machineName } from '../../flags/machine-name.ts';
import { CliError } from '../../output/cli-error.ts';
import { type Settings, upFlags } from '../flags.ts';
import { type AgreedSettings, checkAgreed } from './agreed-settings.ts';
import { hasRules, nextPodRange, nextPort, nextServiceRange, type Taken, WELL_KNOWN } from './free.ts';

/** Values from the command line. */
export type GivenFlags = Partial<Settings>;

/** Settings that the data directory keeps, so that the next start is the same cluster at the same address. */
export type Remembered = Partial<Settings>;

/** Clusters, rules and addresses that are already on the machine. */
export interface Surroundings {
  otherClusters(): Promise<readonly Taken[]>;
  /** The ranges of services that have rules on this machine, of clusters of any user. */
  serviceRanges(): Promise<readonly string[]>;
  /** The addresses of its network interfaces. */
  addresses(): readonly string[];
  /** Settings that the servers of a shared store have agreed on. */
  agreed(settings: Settings): Promise<AgreedSettings>;
}

/**
 * Resolves with the settings, and rejects before anything is created when they do not go together. The cluster of the
 * default name has the well-known port and, unless another one has rules for it on this machine, the well-known service
 * range. Any other gets the next ones that no cluster of this machine remembers and the machine does not use.
 */
export async function settle(given: GivenFlags, remembered: Remembered, surroundings: Surroundings): Promise<Settings> {
  checkRemembered(remembered);
  checkUnchanged(given, remembered);
  const known = forStore(given, knownSettings(given, remembered));
  const agreed = storeDriver(known.store).shared ? await surroundings.agreed(known) : {};
  checkAgreed({ ...remembered, ...withoutUndefined(given) }, agreed);
  const settings = { ...known, ...agreed };
  const { bindAddress, port, serviceClusterIpRange } = settings;
  const needsPodRange = lacksPodRange(settings);
  const isKnown = !needsChoice(settings);
  const isDefault = settings.name === DEFAULT_NAME;
  const others = isKnown ? [] : await surroundings.otherClusters();
  const taken = isDefault ? [] : [WELL_KNOWN, ...others];
  // Addresses of simulated services and pods are nowhere.
  const ruled = hasRules(settings) ? others.filter(hasRules) : [];
  const ranges = [...taken, ...ruled];
  const needsServiceRange = serviceClusterIpRange === undefined;
  const seen = needsServiceRange && hasRules(settings) ? await surroundings.serviceRanges() : [];
  return {
    ...settings,
    // Other servers of the store have nodes as well.
    nodeName: settings.nodeName ?? (storeDriver(settings.store).shared ? machineName() : undefined),
    port: port ?? (await nextPort(bindAddress, taken)),
    serviceClusterIpRange:
      serviceClusterIpRange ??
      nextServiceRange([...ranges, ...seen.map((range) => ({ serviceClusterIpRange: range }))]),
    ...(needsPodRange ? { clusterCidr: nextPodRange(ranges, surroundings.addresses()) } : {}),
  };
}

/** Reports whether a start chooses ports or ranges, or has rules that must not meet those of others. */
export function usesMachine(given: GivenFlags, remembered: Remembered): boolean {
  const settings = knownSettings(given, remembered);
  return needsChoice(settings) || hasRules(settings);
}

function knownSettings(given: GivenFlags, remembered: Remembered): Settings {
  return { ...defaults(), ...withoutUndefined(rememberedOf(remembered)), ...withoutUndefined(given) } as Settings;
}

function needsChoice(settings: Settings): boolean {
  return settings.port === undefined || settings.serviceClusterIpRange === undefined || lacksPodRange(settings);
}

/** Pods of other runtimes have addresses on this machine; simulated ones are nowhere. */
function lacksPodRange({ clusterCidr, runtime }: Settings): boolean {
  return clusterCidr === undefined && runtime !== 'simulated';
}

/** The settings that the data directory keeps. */
export function rememberedOf(settings: Partial<Settings>): Remembered {
  const names = upFlags.filter(({ remembered }) => remembered).map(propertyOf);
  return pick(settings, names);
}

/** The flags of a start whose settings the data directory has not taken over; it has those of the others. */
export function notRemembered(given: GivenFlags): GivenFlags {
  const names = upFlags.filter(({ remembered }) => !remembered).map(propertyOf);
  return pick(given, names);
}

function defaults(): Partial<Settings> {
  return Object.fromEntries(upFlags.map((flag) => [propertyOf(flag), flag.default]));
}

function checkRemembered(remembered: Remembered): void {
  for (const flag of upFlags) {
    const value = remembered[propertyOf(flag) as keyof Settings];
    if (value === undefined || !flag.choices || flag.choices.includes(value)) continue;
    throw new CliError(`cluster.json says ${longName(flag)} ${value}, which this qd does not know`);
  }
}

/** Objects that outlive the process are in one store, and hold addresses of one range. */
function checkUnchanged(given: GivenFlags, remembered: Remembered): void {
  if (!storeDriver(remembered.store ?? defaultStore).durable) return;
  const { storeDir } = given;
  if (storeDir !== undefined && Object.keys(remembered).length > 0 && storeDir !== remembered.storeDir) {
    throw new CliError(
      `the objects of this cluster are not in ${storeDir}: qd store migrate --to embedded --store-dir ${storeDir} moves them`,
    );
  }
  for (const flag of upFlags) {
    const name = propertyOf(flag) as keyof Settings;
    const [from, to] = [remembered[name], given[name]];
    if (!flag.fixed || from === undefined || from === null || to === undefined || to === null) continue;
    if (from !== to) throw new CliError(flag.fixed(from, to));
  }
}

/** Drops what only other stores use, and checks what the chosen one needs. */
function forStore(given: GivenFlags, settings: Settings): Settings {
  const driver = storeDriver(settings.store);
  const foreign = storeDrivers.filter((other) => other !== driver);
  for (const { name, flags } of foreign) {
    const misplaced = flags.find((flag) => given[propertyOf(flag) as keyof Settings] !== undefined);
    if (misplaced) throw new CliError(`${longName(misplaced)} needs --store ${name}`);
  }
  const names = new Set(foreign.flatMap(({ flags }) => flags.map(propertyOf)));
  const own = Object.fromEntries(Object.entries(settings).filter(([name]) => !names.has(name))) as Settings;
  try {
    driver.check(own);
  } catch (error) {
    throw error instanceof FlagError ? new CliError(error.message, { cause: error }) : error;
  }
  return own;
}

function pick<T extends object>(values: T, names: readonly string[]): Partial<T> {
  return Object.fromEntries(Object.entries(values).filter(([name]) => names.includes(name))) as Partial<T>;
}
