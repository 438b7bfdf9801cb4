/** Whatever holds for a server in one thread holds for one whose sockets are in another. */
import { describe } from 'vitest';
import { socketsElsewhere } from '../../../../test/support/http-server.ts';

socketsElsewhere();

describe('requests', async () => {
  await import('../server.test.ts');
});
describe('one connection', async () => {
  await import('../listen/one-connection.test.ts');
});
describe('watches', async () => {
  await import('../watch.test.ts');
});
describe('the end', async () => {
  await import('../listen/close.test.ts');
});
describe('load', async () => {
  await import('../load.test.ts');
});
describe('the audit log', async () => {
  await import('../audit.test.ts');
});
