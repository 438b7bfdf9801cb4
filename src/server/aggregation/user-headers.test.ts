import { expect, it } from 'vitest';
import { userHeaders } from './user-headers.ts';

it('says who the user is, in the encoding of Kubernetes', () => {
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
  'refuses a name that would become another one on the way: %j',
  (name) => {
    expect(() => userHeaders({ name, groups: [] })).toThrow('cannot be sent');
    expect(() => userHeaders({ name: 'a', groups: [name] })).toThrow('cannot be sent');
    expect(() => userHeaders({ name: 'a', groups: [], extra: { k: [name] } })).toThrow('cannot be sent');
  },
);
