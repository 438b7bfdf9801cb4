#!/usr/bin/env node
/**
 * The entry point of `dist/qd.js`. It runs the bundle beside it with code that V8 has compiled before, and keeps that code: for
 * the package when the build asks for it, and for the user where V8 does not take the package's. The name of the bundle
 * contains a hash of its content, so that compiled code never belongs to another bundle.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { allowHeapGrowth } from '../../assembly/threads/heap-growth.ts';
import { compiledFile, keepCompiled, readBundle, runBundle } from '../../base/programs/compiled-bundle.ts';

/** Defined by the build. */
declare const BUNDLE_NAME: string;
declare const AGENT_BUNDLE_NAME: string;

/** A server that ran for a shorter time may have ended before it was ready, with little compiled. */
const LONG_ENOUGH_SECONDS = 3;

const command = process.argv[2];
/** Agents have a bundle of their own, half as large. It has no compiled code, which would be in memory whether it is used or not. */
const bundle = join(__dirname, command === 'agent' ? AGENT_BUNDLE_NAME : BUNDLE_NAME);

const script = readBundle(bundle, process.env);
// The build runs the program once and keeps the code compiled by then.
if (process.env.QUARTERDECK_KEEP_COMPILED === 'true') process.on('exit', keepInPackage);
else if (command === 'up') process.on('exit', keepForUser);
// And once more, to see that V8 takes it.
if (process.env.QUARTERDECK_CHECK_COMPILED === 'true') process.exit(script?.cachedDataRejected === false ? 0 : 1);
runBundle(bundle, script);

function keepInPackage(): void {
  if (!script) throw new Error('expected a build without --enable-source-maps: compiled code is not used with it');
  // V8 rejects code that was compiled with other flags than those of a start.
  allowHeapGrowth();
  const compiled = compiledFile(bundle);
  const next = `${compiled}.${process.pid}`;
  writeFileSync(next, script.createCachedData());
  renameSync(next, compiled);
}

function keepForUser(): void {
  if (process.uptime() < LONG_ENOUGH_SECONDS) return;
  allowHeapGrowth();
  keepCompiled(bundle, script, process.env);
}
