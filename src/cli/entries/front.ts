/** The entry point of the worker thread that owns the sockets. */
import { parentPort } from 'node:worker_threads';
import { systemClock } from '../../base/time/clock.ts';
import { serveFront } from '../../server/serving/http/front/front-thread.ts';

if (!parentPort) throw new Error('this file runs in a worker thread of qd, not by itself');
serveFront(parentPort, systemClock);
