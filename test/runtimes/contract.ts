/** Contract of a runtime. Called from the test of every implementation. */
import { afterAll, afterEach, beforeAll, describe } from 'vitest';
import { describeCommands } from './contract/commands.ts';
import { describeConfiguration } from './contract/configuration.ts';
import { describeImages } from './contract/images.ts';
import { describeLife } from './contract/life.ts';
import { describePodNetwork } from './contract/pod-network.ts';
import { describeStreams } from './contract/streams.ts';
import { type Lacks, type RuntimeUnderTest, World } from './world.ts';

export function describeRuntime(name: string, prepare: () => Promise<RuntimeUnderTest>, lacks: Lacks = {}): void {
  describe(`${name}: the runtime contract`, () => {
    let world: World;

    beforeAll(async () => {
      world = new World(await prepare());
      await world.start();
    });

    afterAll(() => world?.stop());

    const subject = { world: () => world, lacks };
    describe('pods', () => {
      afterEach(() => world.removeAll());

      describe('life', () => describeLife(subject));
      describe('commands and streams', () => describeCommands(subject));
      describe('ends of streams', () =>
        describeStreams({ runtime: () => world.runtime, run: (script, changes) => world.run(script, changes), lacks }));
      describe('configuration', () => describeConfiguration(subject));
      describe('images', () => describeImages(subject));
    });
    describe.skipIf(lacks['pod network'])('interfaces of pods', () => describePodNetwork(subject));
  });
}
