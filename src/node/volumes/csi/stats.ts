/** Reads statistics of volumes from CSI drivers. */
import { join } from 'node:path';
import { type Clock, sleep } from '../../../base/time/clock.ts';
import type { Layout } from '../host/layout.ts';
import type { DriverVolumeStats } from '../volumes.ts';
import type { CsiDrivers } from './drivers.ts';
import { csiVolumes, type PublishedVolume } from './in-use.ts';
import { CAPABILITY, csi, USAGE_UNIT } from './messages.ts';

/** Timeout for a driver that does not answer, which must not hold back the other statistics. */
const STATS_TIMEOUT_MS = 5_000;

interface StatsHost {
  readonly layout: Layout;
  readonly csi: Pick<CsiDrivers, 'call' | 'capabilities'>;
  readonly clock: Clock;
}

/**
 * Returns statistics of the pod's volumes whose drivers provide them. Other volumes, and those whose drivers fail, are
 * left out.
 */
export async function csiStats(host: StatsHost, uid: string): Promise<readonly DriverVolumeStats[]> {
  const found = await Promise.all((await csiVolumes(host.layout, uid)).map((each) => statsInTime(host, each)));
  return found.filter((stats) => stats !== undefined);
}

async function statsInTime(host: StatsHost, volume: PublishedVolume): Promise<DriverVolumeStats | undefined> {
  const end = new AbortController();
  const late = sleep(host.clock, STATS_TIMEOUT_MS, end.signal).catch(() => undefined);
  try {
    return await Promise.race([statsOf(host, volume).catch(() => undefined), late.then(() => undefined)]);
  } finally {
    end.abort();
  }
}

async function statsOf(host: StatsHost, { path, data }: PublishedVolume): Promise<DriverVolumeStats | undefined> {
  const { driverName, volumeHandle, stagingPath, specVolID, podVolume = specVolID, claim } = data;
  if (!(await host.csi.capabilities(driverName)).has(CAPABILITY.tellsUsage)) return undefined;
  const request = { volumeId: volumeHandle, volumePath: join(path, 'mount'), stagingPath };
  const { usage } = await host.csi.call(driverName, csi.stats, request);
  const bytes = usage.find(({ unit }) => unit === USAGE_UNIT.bytes);
  const inodes = usage.find(({ unit }) => unit === USAGE_UNIT.inodes);
  return {
    name: podVolume,
    claim,
    availableBytes: bytes?.available,
    capacityBytes: bytes?.total,
    usedBytes: bytes?.used,
    inodesFree: inodes?.available,
    inodes: inodes?.total,
    inodesUsed: inodes?.used,
  };
}
