import {
  closeSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { Script } from 'node:vm';
import { makeDirectoriesSync } from '../files/own/make-directories.ts';

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

/** Retention of compiled code, after which it is removed when a new file is written. */
const KEPT_DAYS = 90;
const DAY_MS = 24 * 60 * 60 * 1_000;
/** Limit for the number of files, of 3 to 5 MB each: flags such as a debugger's port may differ in every process. */
const MAX_FILES = 20;
const WRITABLE_BY_OTHERS = 0o022;
/** Limit for flags in a file name. Two truncated sets may share a file, and replace each other's code. */
const MAX_FLAGS_LENGTH = 120;
const SUFFIX = '.code';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the code that an earlier process saved for this Node release, flags and processor, which that of the build may not fit:
 * V8 would reject it, and every start would take twice as long. Code that somebody else could have written is ignored: V8 runs it
 * unchecked.
 */
export function readKept(bundle: string, env: Environment): Buffer | undefined {
  if (isOff(env)) return undefined;
  try {
    const file = openSync(fileOf(bundle, env), 'r');
    try {
      const { uid, mode } = fstatSync(file);
      return uid === process.geteuid?.() && (mode & WRITABLE_BY_OTHERS) === 0 ? readFileSync(file) : undefined;
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined; // Usually the code of the build is valid, and none was ever saved.
  }
}

/** Saves code for the next process. It only affects speed, so write errors are ignored. */
function keep(bundle: string, code: Buffer, env: Environment): void {
  if (isOff(env)) return;
  try {
    const file = fileOf(bundle, env);
    makeDirectoriesSync(dirname(file), 0o700);
    const next = `${file}.${process.pid}`;
    writeFileSync(next, code, { mode: 0o600 });
    renameSync(next, file);
    removeOld(file);
  } catch {}
}

/** Removes files much older than one that was just written, and files over the limit. */
function removeOld(written: string): void {
  const folder = dirname(written);
  const files = readdirSync(folder)
    .filter((name) => name.includes(SUFFIX))
    .map((name) => ({ file: join(folder, name), time: statSync(join(folder, name)).mtimeMs }))
    .sort((a, b) => b.time - a.time);
  const oldest = statSync(written).mtimeMs - KEPT_DAYS * DAY_MS;
  for (const [index, { file, time }] of files.entries()) if (index >= MAX_FILES || time < oldest) rmSync(file);
}

function fileOf(bundle: string, env: Environment): string {
  const folder = join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'quarterdeck');
  return join(folder, `${basename(bundle)}.${process.version}-${process.arch}${flagsOf(env)}${SUFFIX}`);
}

/**
 * The flags of this process as a part of a file name. V8 accepts code only from a process with the same flags: without
 * them in the name, a process with other flags would hide the code of the build from all later ones.
 */
function flagsOf({ NODE_OPTIONS = '' }: Environment): string {
  const flags = [NODE_OPTIONS, ...process.execArgv].join(' ').trim();
  return flags.replaceAll(/[^\w.=-]+/g, '_').slice(0, MAX_FLAGS_LENGTH);
}

/** Reports whether the cache is disabled: by Node's own variable for it, or because files have no owner to check. */
function isOff({ NODE_DISABLE_COMPILE_CACHE }: Environment): boolean {
  return NODE_DISABLE_COMPILE_CACHE === '1' || !process.geteuid;
}
