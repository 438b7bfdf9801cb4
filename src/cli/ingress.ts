/** The entry point of the worker thread that forwards the requests of Ingresses. */
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../base/time/clock.ts';
import { serveIngressThread } from '../network/ingress/thread.ts';
import { machineGuard } from './process/machine-guard.ts';

if (!parentPort) throw new Error('this file runs in a worker thread of qd, not by itself');
serveIngressThread(parentPort, systemClock, machineGuard(workerData));
