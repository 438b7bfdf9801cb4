import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname } from 'node:path';
import { Script } from 'node:vm';
import { keep, readKept } from './compiled-cache.ts';

/** The file with the code that V8 compiled from a bundle during the build. */
export const compiledFile = (bundle: string) => `${bundle}.code`;

/**
 * The name of a bundle in stack traces. Compiled code keeps the name that the bundle had when it was compiled, so the
 * name is the same on every machine and reveals no directory of the build machine. `scripts/compile-testing.mjs` uses
 * the same name.
 */
const nameInTraces = (bundle: string) => `quarterdeck/dist/${basename(bundle)}`;

/**
 * Reads a CommonJS bundle together with code that V8 compiled before, because compilation takes a third of a start. The
 * code comes from an earlier process, or else from the build. V8 rejects code of another Node release, and compiles as
 * usual.
 *
 * The file is a function of `require`, `module`, `exports`, `__filename` and `__dirname`. V8 would copy a text that is put
 * together here.
 *
 * Returns undefined where Node applies source maps (`--enable-source-maps`): it does so only for modules that its own loader
 * has read, and for no script, so `runBundle` lets it read the bundle.
 */
export function readBundle(bundle: string, env: NodeJS.ProcessEnv): Script | undefined {
  if (process.sourceMapsEnabled) return undefined;
  // The bundle is ASCII. As Latin-1, each character takes one byte and needs no decoding.
  return new Script(readFileSync(bundle, 'latin1'), {
    filename: nameInTraces(bundle),
    cachedData: readKept(bundle, env) ?? readIfThere(compiledFile(bundle)),
  });
}

/** Keeps what V8 has compiled of the bundle by now for the next process, unless V8 took what there was. */
export function keepCompiled(bundle: string, script: Script | undefined, env: NodeJS.ProcessEnv): void {
  if (script && script.cachedDataRejected !== false) keep(bundle, script.createCachedData(), env);
}

export function runBundle(
  bundle: string,
  script: Script | undefined,
  require: NodeJS.Require = createRequire(bundle),
): object {
  const module = { exports: {} };
  const run = script ? script.runInThisContext() : require(bundle);
  run(require, module, module.exports, bundle, dirname(bundle));
  return module.exports;
}

/** Returns a `require` that loads the named modules only when one of their exports is used. */
export function requireLater(require: NodeJS.Require, names: readonly string[]): NodeJS.Require {
  const load = (name: string) => (names.includes(name) ? loadedLater(() => require(name)) : require(name));
  return Object.assign(load, require);
}

function loadedLater(load: () => object): object {
  let loaded: object | undefined;
  const exported = () => {
    loaded ??= load();
    return loaded;
  };
  return new Proxy(
    {},
    {
      get: (_, key) => Reflect.get(exported(), key),
      has: (_, key) => key in exported(),
      ownKeys: () => Reflect.ownKeys(exported()),
      getOwnPropertyDescriptor: (_, key) => {
        const value = Reflect.getOwnPropertyDescriptor(exported(), key);
        return value && { ...value, configurable: true };
      },
    },
  );
}

function readIfThere(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch {
    return undefined; // V8 compiles the bundle; the start takes longer.
  }
}
