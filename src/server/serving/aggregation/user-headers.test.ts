import { expect, it } from 'vitest';
import { namesUsers, userHeaders } from './user-headers.ts';

it('identifies the user in the encoding of Kubernetes', () => {
  const extra = { 'example.com/Scopes': ['a', 'b'], 'größe%': ['ü'] };
  expect(userHeaders({ name: 'Ünal', uid: '7', groups: ['x', 'y'], extra })).toEqual({
    'X-Remote-User': Buffer.from('Ünal').toString('latin1'),
    'X-Remote-Uid': '7',
    'X-Remote-Group': ['x', 'y'],
    'X-Remote-Extra-example.com%2Fscopes': ['a', 'b'],
    'X-Remote-Extra-gr%C3%B6%C3%9Fe%25': [Buffer.from('ü').toString('latin1')],
  });
});

it.each(['admin\r\nX-Remote-Group: system:masters', 'admin\n', ' admin', 'admin ', '\u0000', '\u00a0admin'])(
  'rejects a name that would become another one on the way: %j',
  (name) => {
    expect(() => userHeaders({ name, groups: [] })).toThrow('cannot be sent');
    expect(() => userHeaders({ name: 'a', groups: [name] })).toThrow('cannot be sent');
    expect(() => userHeaders({ name: 'a', groups: [], extra: { k: [name] } })).toThrow('cannot be sent');
  },
);

const OTHERS = {
  username: ['X-Proxy-User', 'X-User'],
  group: ['X-Proxy-Group'],
  extraPrefixes: ['X-Proxy-Extra-', ''],
};

it('identifies the user in the first of other headers, too', () => {
  expect(userHeaders({ name: 'a', uid: '7', groups: ['x'], extra: { k: ['v'] } }, OTHERS)).toEqual({
    ...{ 'X-Proxy-User': 'a', 'X-Proxy-Group': ['x'], 'X-Proxy-Extra-k': ['v'] },
    ...{ 'X-Remote-User': 'a', 'X-Remote-Uid': '7', 'X-Remote-Group': ['x'], 'X-Remote-Extra-k': ['v'] },
  });
});

it('recognizes headers that name users', () => {
  const isWithheld = namesUsers(OTHERS);
  for (const name of ['x-proxy-user', 'X-User', 'x_proxy_group', 'x-proxy-extra-scopes']) {
    expect(isWithheld(name), name).toBe(true);
  }
  for (const name of ['accept', 'x-proxy', 'x-user-agent']) expect(isWithheld(name), name).toBe(false);
});
