/** Devices of the node: a pod that makes a file for one, or is given one in a volume, cannot use it. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { allFailed, attempt, DEFAULT_SECURITY, hostUsers, type Lab, privileged, promised, volume } from '../lab.ts';

const NULL = 'c 1 3';
/**
 * Character devices by what they are. Opening them changes nothing. /dev/net/tun is not among them: runc before 1.2 allows it to every
 * container, which can make no more than an interface in its own network, and only with NET_ADMIN.
 */
const CHARACTER_DEVICES = {
  'kernel log': 'c 1 11',
  memory: 'c 1 1',
  'I/O ports': 'c 1 4',
  fuse: 'c 10 229',
  kvm: 'c 10 232',
  'loop control': 'c 10 237',
};
const EXISTING = ['/dev/kmsg', '/dev/mem', '/dev/net/tun', '/dev/loop-control', '/dev/loop0', '/dev/vda', '/dev/sda'];

/** Opens a device file that the attacker makes. */
const opening = (device: string) => `rm -f /tmp/device; mknod /tmp/device ${device} && : </tmp/device`;

function everyBlockDevice(): Record<string, string> {
  const [, blocks = ''] = readFileSync('/proc/devices', 'utf8').split('Block devices:');
  const majors = [...new Set([...blocks.matchAll(/^\s*(\d+)/gm)].map(([, major]) => Number(major)))];
  const numbers = majors.filter((major) => major < 4096).flatMap((major) => [`b ${major} 0`, `b ${major} 1`]);
  return Object.fromEntries(numbers.map((number) => [number, number]));
}

export function describeDevices(lab: Lab): void {
  const devices = { ...CHARACTER_DEVICES, ...everyBlockDevice() };
  const attacks = Object.fromEntries(Object.entries(devices).map(([name, device]) => [name, opening(device)]));
  const existing = Object.fromEntries(EXISTING.map((path) => [path, `[ -e ${path} ] && : >>${path}`]));

  promised(lab)('cannot be opened through a file that a pod makes', async () => {
    expect(await attempt(lab, { ...attacks, ...existing })).toEqual(allFailed({ ...attacks, ...existing }));
  });

  promised(lab, 'containers')('cannot be opened by a pod with the capability MKNOD', async () => {
    const security = { ...DEFAULT_SECURITY, addCapabilities: ['MKNOD'] };
    const outcome = await attempt(lab, { ...attacks, null: opening(NULL) }, { security }, hostUsers(lab));
    expect(outcome).toEqual({ ...allFailed(attacks), null: 'done' });
  });

  promised(lab, 'containers')('can be opened by a privileged container', async () => {
    const { changes, sandbox } = privileged(lab);
    const control = { 'kernel log': attacks['kernel log']!, null: opening(NULL) };
    expect(await attempt(lab, control, changes, sandbox)).toEqual({ 'kernel log': 'done', null: 'done' });
  });

  const withDevices = async () => {
    const folder = await lab.world().folder('devices');
    const make = (name: string, device: string) =>
      execFileSync('sh', ['-c', `rm -f ${name}; mknod -m 666 ${name} ${device}`], { cwd: folder });
    make('kmsg', CHARACTER_DEVICES['kernel log']);
    make('null', NULL);
    return { mounts: [volume(folder, '/volume')] };
  };

  promised(lab, 'containers')('cannot be opened through a file in a volume', async () => {
    const attacks = { kmsg: ': </volume/kmsg' };
    expect(await attempt(lab, attacks, await withDevices(), hostUsers(lab))).toEqual({ kmsg: 'failed' });
    const { changes, sandbox } = privileged(lab);
    expect(await attempt(lab, attacks, { ...(await withDevices()), ...changes }, sandbox)).toEqual({ kmsg: 'done' });
  });

  promised(
    lab,
    'containers',
    'volumes without devices',
  )('are no devices in a volume, whatever they are', async () => {
    expect(await attempt(lab, { null: ': </volume/null' }, await withDevices())).toEqual({ null: 'failed' });
  });
}
