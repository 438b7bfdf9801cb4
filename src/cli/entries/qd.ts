/** The program `qd`. */
import { commands } from '../commands.ts';
import { DESCRIPTION, runProgram } from '../process/program.ts';

// Objects are a few KB of JSON. Of Node's default pool of 8 KB, every third object would need a new one.
Buffer.poolSize = 64 * 1024;

void runProgram('qd', DESCRIPTION, commands());
