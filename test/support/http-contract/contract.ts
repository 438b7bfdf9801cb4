/** The suites that every way of listening must pass. */
import { describe } from 'vitest';
import type { StartServer } from '../http-server.ts';
import { auditLogContract } from './audit-log.ts';
import { loadContract } from './load.ts';
import { multiplexingContract } from './multiplexing.ts';
import { pipeliningContract } from './pipelining.ts';
import { requestsContract } from './requests.ts';
import { shutdownContract } from './shutdown.ts';
import { watchesContract } from './watches.ts';

export function httpContract(startServer: StartServer): void {
  describe('requests', () => requestsContract(startServer));
  describe('pipelining', () => pipeliningContract(startServer));
  describe('multiplexing', () => multiplexingContract(startServer));
  describe('watches', () => watchesContract(startServer));
  describe('shutdown', () => shutdownContract(startServer));
  describe('load', () => loadContract(startServer));
  describe('the audit log', () => auditLogContract(startServer));
}
