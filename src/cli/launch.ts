#!/usr/bin/env node
/**
 * What `dist/qd.js` is: it runs the bundle beside it with the code that V8 compiled for it when it was built, because
 * compiling anew is a third of a start. Code that is missing, or of another release of Node, is compiled as usual. The
 * bundle's name holds a hash of its content, so that code of another bundle is never taken for its own.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Script } from 'node:vm';

/** Put in by the build. */
declare const BUNDLE_NAME: string;

const bundle = join(__dirname, BUNDLE_NAME);
const compiled = `${bundle}.code`;

// The bundle is ASCII: read as Latin-1, its characters take one byte each, and no decoding.
const source = readFileSync(bundle, 'latin1');
const script = new Script(`(function (require, module, exports, __filename, __dirname) {${source}\n})`, {
  filename: bundle,
  cachedData: readIfThere(compiled),
});
// The build runs the program once, and keeps what was compiled by then.
if (process.env.QUARTERDECK_KEEP_COMPILED === 'true') process.on('exit', keep);
script.runInThisContext()(createRequire(bundle), { exports: {} }, {}, bundle, __dirname);

function readIfThere(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch {
    return undefined; // Nothing is wrong: the start only takes longer.
  }
}

function keep(): void {
  const next = `${compiled}.${process.pid}`;
  writeFileSync(next, script.createCachedData());
  renameSync(next, compiled);
}
