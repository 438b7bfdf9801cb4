/** What runs in the thread with the sockets. */
import { parentPort } from 'node:worker_threads';
import { systemClock } from '../base/clock.ts';
import { serveFront } from '../server/http/front/front-thread.ts';

if (!parentPort) throw new Error('this is no program, but a part of qd that runs in a thread of its own');
serveFront(parentPort, systemClock);
