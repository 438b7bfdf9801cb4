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
import type { Lab, Unpromised } from './lab.ts';

export function describeEscapes(
  executor: string,
  prepare: () => Promise<RuntimeUnderTest>,
  unpromised: Unpromised = {},
): void {
  describe(`a pod on ${executor}`, () => {
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
    describe('devices', () => describeDevices(lab));
    describe('files of the kernel', () => describeKernelFiles(lab));
    describe('links', () => describeLinks(lab));
    describe('the program that starts it', () => describeOwnProgram(lab));
    describe('its limits', () => describeLimits(lab));
    describe('system calls', () => describeSystemCalls(lab));
    describe('processes', () => describeProcesses(lab));
    describe('sockets', () => describeSockets(lab));
    describe('its image', () => describeImages(lab));
    describe('users', () => describeUsers(lab));
  });
}
