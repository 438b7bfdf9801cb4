import { expect, test } from 'vitest';
import { withoutJoining } from './running.ts';

test.each(['--join URL --token T --ca-hash H', '--join=URL --token=T --ca-hash=H'])(
  'a server that has joined with %s is started without it',
  (joining) => {
    const args = ['up', '--name', 'dev', ...joining.split(' '), '--nodes', '0', '--token-auth-file', 'tokens'];
    expect(withoutJoining(args)).toEqual(['up', '--name', 'dev', '--nodes', '0', '--token-auth-file', 'tokens']);
  },
);

test('an agent keeps its flags', () => {
  const args = ['agent', '--server', 'URL', '--token', 'T', '--ca-hash', 'H'];
  expect(withoutJoining(args)).toEqual(args);
});
