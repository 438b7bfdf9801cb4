#!/usr/bin/env node
/**
 * What `dist/qd.js` is: it runs the bundle beside it with the code that V8 compiled for it when it was built, because
 * compiling anew is a third of a start. Code that is missing, or of another release of Node, is compiled as usual.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Script } from 'node:vm';

const BUNDLE = join(__dirname, 'qd.main.js');
const COMPILED = join(__dirname, 'qd.main.code');

const script = new Script(`(function (require, module, exports, __filename, __dirname) {${read(BUNDLE)}\n})`, {
  filename: BUNDLE,
  cachedData: readCompiled(),
});
// The build runs the program once, and keeps what was compiled by then.
if (process.env.QUARTERDECK_KEEP_COMPILED === 'true') {
  process.on('exit', () => writeFileSync(COMPILED, script.createCachedData()));
}
script.runInThisContext()(createRequire(BUNDLE), { exports: {} }, {}, BUNDLE, __dirname);

/** The bundle is ASCII: read as such, its characters take one byte each, and no decoding. */
function read(file: string): string {
  return readFileSync(file, 'latin1');
}

function readCompiled(): Buffer | undefined {
  try {
    return readFileSync(COMPILED);
  } catch {
    return undefined; // Nothing is wrong: the start only takes longer.
  }
}
