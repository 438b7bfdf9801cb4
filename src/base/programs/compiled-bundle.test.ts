import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { findSourceMap } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeEach, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import { compiledFile, keepCompiled, readBundle, readKept, runBundle } from './compiled-bundle.ts';

/** A bundle as `scripts/build.mjs` writes them. */
const bundleOf = (code: string) =>
  `(typeof module === "object" ? module : {}).exports = (function (require, module, exports) { ${code} })`;
const SOURCE = bundleOf('exports.sum=(a,b)=>a+b;');

let directory: string;
let bundle: string;
let env: NodeJS.ProcessEnv;
beforeEach(() => {
  directory = temporaryDirectory();
  bundle = join(directory, 'program.js');
  writeFileSync(bundle, SOURCE);
  env = { XDG_CACHE_HOME: join(directory, 'cache') };
});

const kept = () =>
  readdirSync(join(directory, 'cache', 'quarterdeck')).map((name) => join(directory, 'cache', 'quarterdeck', name));

/** Reads a bundle as without source maps. */
function read(file: string, variables: NodeJS.ProcessEnv) {
  const script = readBundle(file, variables);
  if (!script) throw new Error('expected a script: tests run without --enable-source-maps');
  return script;
}

/** Runs the bundle, as a process does. */
function run() {
  const script = read(bundle, env);
  const { sum } = runBundle(bundle, script) as { sum(a: number, b: number): number };
  expect(sum(1, 2)).toBe(3);
  return script;
}

it('a bundle runs with the code of the build, and saves nothing', () => {
  writeFileSync(compiledFile(bundle), run().createCachedData());
  const script = run();
  expect(script.cachedDataRejected).toBe(false);
  keepCompiled(bundle, script, env);
  expect(kept).toThrow('ENOENT');
});

it.each([
  ['without code', () => {}],
  ['with code that V8 rejects', () => writeFileSync(compiledFile(bundle), 'code of another release')],
])('a bundle: %s is compiled, and the next process uses the saved code', (_, prepare) => {
  prepare();
  keepCompiled(bundle, run(), env);
  expect(run().cachedDataRejected).toBe(false);
});

it('a bundle has separate code for every set of flags: V8 accepts none from a process with others', () => {
  const flagged = { ...env, NODE_OPTIONS: '--max-old-space-size=4096' };
  keepCompiled(bundle, run(), flagged);
  expect(readKept(bundle, flagged)).toBeDefined();
  expect(readKept(bundle, env)).toBeUndefined();
});

it('a bundle has the same name in stack traces wherever it was compiled', () => {
  writeFileSync(bundle, bundleOf('exports.sum = (a, b) => { throw new Error("no"); }'));
  const traceOf = (file: string) => {
    const script = read(file, { NODE_DISABLE_COMPILE_CACHE: '1' });
    try {
      (runBundle(file, script) as { sum(): void }).sum();
    } catch (error) {
      return { trace: (error as Error).stack, script };
    }
    throw new Error('it did not throw');
  };
  const built = traceOf(bundle);
  const installed = join(directory, 'elsewhere');
  mkdirSync(installed);
  copyFileSync(bundle, join(installed, 'program.js'));
  writeFileSync(compiledFile(join(installed, 'program.js')), built.script.createCachedData());
  const { trace, script } = traceOf(join(installed, 'program.js'));
  expect(script.cachedDataRejected).toBe(false);
  expect(trace).toContain('(quarterdeck/dist/program.js:1:');
  expect(trace).not.toContain(directory);
});

it('a bundle is read by Node where it applies source maps, so that traces name the sources', () => {
  const sources = join(directory, 'src', 'sum.ts');
  // The whole first line of the bundle is line 7 of the source.
  const map = { version: 3, sources: [sources], names: [], mappings: 'AAMA' };
  writeFileSync(`${bundle}.map`, JSON.stringify(map));
  writeFileSync(
    bundle,
    `${bundleOf('exports.sum = (a, b) => { throw new Error("no"); }')}\n//# sourceMappingURL=program.js.map\n`,
  );
  process.setSourceMapsEnabled(true);
  try {
    const script = readBundle(bundle, env);
    expect(script).toBeUndefined();
    const { sum } = runBundle(bundle, script) as { sum(): void };
    expect(findSourceMap(bundle)?.findEntry(0, 130)).toMatchObject({ originalSource: pathToFileURL(sources).href });
    expect(sum).toThrow('no');
    keepCompiled(bundle, script, env);
    expect(kept).toThrow('ENOENT');
  } finally {
    process.setSourceMapsEnabled(false);
  }
});

it('a bundle does not run code that others could have written', () => {
  keepCompiled(bundle, run(), env);
  chmodSync(kept()[0]!, 0o666);
  expect(run().cachedDataRejected).toBeUndefined();
});

it('a bundle runs where nothing can be saved', () => {
  env = { XDG_CACHE_HOME: bundle };
  keepCompiled(bundle, run(), env);
  run();
});

it('a bundle saves nothing where Node may not', () => {
  env.NODE_DISABLE_COMPILE_CACHE = '1';
  keepCompiled(bundle, run(), env);
  expect(kept).toThrow('ENOENT');
});

it('a bundle keeps the newest code of several sets of flags', () => {
  const keptFor = (port: number) => kept().find((file) => new RegExp(`inspect=${port}\\D`).test(file));
  for (let port = 101; port <= 125; port++) {
    keepCompiled(bundle, run(), { ...env, NODE_OPTIONS: `--inspect=${port}` });
    const time = Date.now() / 1000 - 200 + port;
    utimesSync(keptFor(port)!, time, time);
  }
  keepCompiled(bundle, run(), env);
  expect(kept()).toHaveLength(20);
  expect([keptFor(106), keptFor(107)]).toEqual([undefined, expect.any(String)]);
});

it('a bundle removes old code', () => {
  keepCompiled(bundle, run(), env);
  const old = join(directory, 'cache', 'quarterdeck', 'earlier.js.v20.0.0-x64.code');
  writeFileSync(old, readFileSync(kept()[0]!));
  utimesSync(old, new Date(0), new Date(0));
  rmSync(kept().find((file) => file !== old)!);
  keepCompiled(bundle, run(), env);
  expect(kept()).not.toContain(old);
});
