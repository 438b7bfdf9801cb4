#!/usr/bin/env node
/**
 * The entry point of `dist/qd.js`. It runs the bundle beside it with the code that V8 compiled during the build, because
 * compilation takes a third of the start. Without that code, or with code of another Node release, V8 compiles as usual.
 * The name of the bundle contains a hash of its content, so that compiled code never belongs to another bundle.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Script } from 'node:vm';
import { allowHeapGrowth } from './process/heap-growth.ts';

/** Defined by the build. */
declare const BUNDLE_NAME: string;
declare const AGENT_BUNDLE_NAME: string;

/** Agents have a bundle of their own, half as large. It has no compiled code, which would be in memory whether it is used or not. */
const bundle = join(__dirname, process.argv[2] === 'agent' ? AGENT_BUNDLE_NAME : BUNDLE_NAME);
const compiled = `${bundle}.code`;

// The bundle is ASCII. As Latin-1, each character takes one byte and needs no decoding.
const source = readFileSync(bundle, 'latin1');
const script = new Script(`(function (require, module, exports, __filename, __dirname) {${source}\n})`, {
  filename: bundle,
  cachedData: readIfThere(compiled),
});
// The build runs the program once and keeps the code compiled by then.
if (process.env.QUARTERDECK_KEEP_COMPILED === 'true') process.on('exit', keep);
// And once more, to see that V8 takes it.
if (process.env.QUARTERDECK_CHECK_COMPILED === 'true') process.exit(script.cachedDataRejected === false ? 0 : 1);
script.runInThisContext()(createRequire(bundle), { exports: {} }, {}, bundle, __dirname);

function readIfThere(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch {
    return undefined; // V8 compiles the bundle; the start takes longer.
  }
}

function keep(): void {
  // V8 rejects code that was compiled with other flags than those of a start.
  allowHeapGrowth();
  const next = `${compiled}.${process.pid}`;
  writeFileSync(next, script.createCachedData());
  renameSync(next, compiled);
}
