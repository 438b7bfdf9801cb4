/**
 * Runs a program of dist/, or says how to build it. `npx qd` in a clone, `npm link` and the installed package call the files of
 * this folder, because they exist before the first build: npm makes its links once, and never checks them again.
 */
const { existsSync } = require('node:fs');
const { join } = require('node:path');

exports.load = (name) => {
  const program = join(__dirname, '..', 'dist', `${name}.js`);
  if (existsSync(program)) return require(program);
  process.stderr.write(`${name}: this clone is not built yet; run: npm run build\n`);
  process.exitCode = 1;
};
