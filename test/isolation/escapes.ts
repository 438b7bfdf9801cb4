/** Everything that a pod tries in order to reach its node, other pods or the keys of a cluster. Called for every executor. */
import { afterAll, afterEach, beforeAll, describe } from 'vitest';
import { HOST_IMAGE_ID } from '../../src/kinds/shapes/container/host-image.ts';
import { type RuntimeUnderTest, World } from '../runtimes/world.ts';
import { loadAttacker } from './attacker-image.ts';
import { describeDevices } from './attacks/devices.ts';
import { describeImages } from './attacks/images.ts';
import { describeKernelFiles } from './attacks/kernel-files.ts';
import { describeLimits } from './attacks/limits.ts';
import { describeLinks } from './attacks/links.ts';
import { describeOwnProgram } from './attacks/own-program.ts';
import { describeProcesses } from './attacks/processes.ts';
import { describeSockets } from './attacks/sockets.ts';
import { describeSystemCalls } from './attacks/system-calls.ts';
import { describeUsers } from './attacks/users.ts';
import { describeZeroBytes } from './attacks/zero-bytes.ts';
import type { Lab, Unpromised } from './lab.ts';

type Attacks = Readonly<Record<string, (lab: Lab) => void>>;

/** Attacks whose outcome depends on who root in the container is. */
export const ATTACKS_OF_ROOT: Attacks = {
  devices: describeDevices,
  'files of the kernel': describeKernelFiles,
  links: describeLinks,
  'the program that starts it': describeOwnProgram,
  'its limits': describeLimits,
  sockets: describeSockets,
  users: describeUsers,
};
const ALL_ATTACKS: Attacks = {
  ...ATTACKS_OF_ROOT,
  'system calls': describeSystemCalls,
  processes: describeProcesses,
  'its image': describeImages,
  'zero bytes': describeZeroBytes,
};

interface Executor {
  readonly name: string;
  prepare(): Promise<RuntimeUnderTest>;
  readonly unpromised?: Unpromised;
  /** Default: all. */
  readonly attacks?: Attacks;
}

export function describeEscapes({ name, prepare, unpromised = {}, attacks = ALL_ATTACKS }: Executor): void {
  describe(`a pod on ${name}`, () => {
    let world: World;
    let attacker = { image: 'host', imageId: HOST_IMAGE_ID };

    beforeAll(async () => {
      world = new World(await prepare());
      await world.start();
      // Plain processes have no images.
      if (unpromised.containers === undefined) attacker = await loadAttacker(world, 'attacker', { withPerl: true });
    });
    afterEach(() => world.removeAll());
    afterAll(() => world?.stop());

    const lab: Lab = { world: () => world, attacker: () => attacker, unpromised };
    for (const [what, describeAttacks] of Object.entries(attacks)) describe(what, () => describeAttacks(lab));
  });
}
