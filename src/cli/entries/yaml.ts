/** The entry point of the worker thread that decodes large YAML bodies. */
import { parentPort } from 'node:worker_threads';
import { serveYamlThread } from '../../server/serving/codec/yaml-thread.ts';

if (!parentPort) throw new Error('this file runs in a worker thread of qd, not by itself');
// A document can have an error for every lexeme, and their stacks would take most of the memory.
Error.stackTraceLimit = 0;
serveYamlThread(parentPort);
