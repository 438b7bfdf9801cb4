/** What a cluster consists of is put together in one room: programs and test clusters call it, and start no component by themselves. */
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { analyse, isTest, type Source, sourcesBelow } from './source.ts';

const ASSEMBLY = 'src/assembly/';

/** What starts a component, by the file that exports it. */
const STARTS: Readonly<Record<string, RegExp>> = {
  'src/server/index.ts': /\bcreateServer\(/,
  'src/server/serving/http/server.ts': /\bcreateHttpServer\(/,
  'src/controllers/loop/loop.ts': /\brunControllers\(/,
  'src/scheduler/scheduler.ts': /\bnew Scheduler\(/,
  'src/node/agent/agent.ts': /\bstartAgent\(/,
  'src/node/simulated/simulated.ts': /\bstartSimulatedNodes\(/,
  'src/federation/controllers/run.ts': /\brunFederation\(/,
};

/** What a file starts. The call alone says nothing: Node has a `createServer`, too. */
function startedBy({ path, code, imports }: Source): string[] {
  const imported = new Set(imports.map((target) => normalize(join(dirname(path), target))));
  return Object.entries(STARTS)
    .filter(([home, call]) => imported.has(home) && call.test(code))
    .map(([home]) => home);
}

/** Where something is started outside the room, as `file starts file`. */
function startsElsewhere(sources: readonly Source[]): string[] {
  return sources
    .filter(({ path }) => !path.startsWith(ASSEMBLY) && !isTest(path))
    .flatMap((source) => startedBy(source).map((home) => `${source.path} starts ${home}`));
}

test('components are started in the assembly only', () => {
  const sources = sourcesBelow('src');
  expect(startsElsewhere(sources)).toEqual([]);
});

test.each(Object.keys(STARTS))('%s is started there', (home) => {
  expect(sourcesBelow(ASSEMBLY).some((source) => !isTest(source.path) && startedBy(source).includes(home))).toBe(true);
});

const SERVER = "import { createServer } from '../../server/index.ts';";

test.each([
  ['src/testing/cluster/a.ts', `${SERVER} const server = await createServer({ store });`, 1],
  ['src/cli/up/a.ts', "import { Scheduler } from '../../scheduler/scheduler.ts'; const s = new Scheduler(options);", 1],
  ['src/assembly/node/a.ts', `${SERVER} const server = await createServer({ store });`, 0],
  ['src/cli/up/a.ts', "import { createServer } from 'node:net'; const server = createServer();", 0],
  ['src/cli/up/a.ts', `${SERVER} // createServer() is called in the assembly`, 0],
])('%s with %s', (path, text, findings) => {
  expect(startsElsewhere([{ path, ...analyse(text) }])).toHaveLength(findings);
});
