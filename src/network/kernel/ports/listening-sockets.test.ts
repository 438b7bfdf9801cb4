import { expect, it } from 'vitest';
import { listeningSockets } from './listening-sockets.ts';

const HEAD = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode';
const REST = '00000000:00000000 00:00000000 00000000     0        0 41 1 0 100 0 0 10 0';

it('reads sockets of TCP that listen, and of UDP that are not connected', () => {
  const tcp = [
    HEAD,
    `   0: 00000000:0016 00000000:0000 0A ${REST}`,
    `   1: 0100007F:1F90 00000000:0000 0A ${REST}`,
    `   2: 0100007F:1F90 0100007F:C001 01 ${REST}`,
    '',
  ].join('\n');
  expect(listeningSockets('tcp', tcp)).toEqual([
    { protocol: 'tcp', address: '0.0.0.0', port: 22, inode: 41 },
    { protocol: 'tcp', address: '127.0.0.1', port: 8080, inode: 41 },
  ]);
  const udp6 = [
    HEAD,
    `  10: 00000000000000000000000000000000:0035 00000000000000000000000000000000:0000 07 ${REST}`,
    `  11: B80D0120000000000000000001000000:0035 00000000000000000000000000000000:0000 07 ${REST}`,
    `  12: 0000000000000000FFFF00000100007F:0035 00000000000000000000000000000000:0000 07 ${REST}`,
    `  13: 00000000000000000000000000000000:0035 B80D0120000000000000000001000000:0035 01 ${REST}`,
  ].join('\n');
  expect(listeningSockets('udp6', udp6)).toEqual([
    { protocol: 'udp', address: '::', port: 53, inode: 41 },
    { protocol: 'udp', address: '2001:db8::1', port: 53, inode: 41 },
    { protocol: 'udp', address: '127.0.0.1', port: 53, inode: 41 },
  ]);
});
