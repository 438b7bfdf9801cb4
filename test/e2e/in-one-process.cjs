/**
 * Runs a program of `dist/` several times in one process, each time from its first line: starting Node and reading the program
 * takes several times as long as rejecting what it was given. Arguments: the file of the program, and a JSON list with the
 * arguments of each run. After the errors of a run, a line of stderr has its exit code. A run has ended when nothing is left
 * that keeps the process alive.
 */
const vm = require('node:vm');

const { Script } = vm;
const scripts = new Map();
// A script can run several times, each time with variables of its own; V8 reads it once.
vm.Script = function keptScript(code, options) {
  const script = scripts.get(options.filename) ?? new Script(code, options);
  scripts.set(options.filename, script);
  return script;
};

const [file, list] = process.argv.slice(2);
const runs = JSON.parse(list);
let isRunning = false;

// Each run adds its own.
process.setMaxListeners(0);
process.on('beforeExit', () => {
  if (isRunning) process.stderr.write(`exit code ${process.exitCode ?? 0}\n`);
  process.exitCode = undefined;
  const args = runs.shift();
  isRunning = args !== undefined;
  if (!isRunning) return;
  process.argv = [process.argv[0], file, ...args];
  delete require.cache[file];
  require(file);
  // Otherwise Node ends if the program has done everything by now.
  setImmediate(() => undefined);
});
