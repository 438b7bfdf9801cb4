import { expect, test } from 'vitest';
import { parsedWords } from '../../../../test/support/systemd-words.ts';
import { aboutOf, unitText, withProgram } from './unit-text.ts';

const DIRECTORY = '/data/50% "a\\b"';
const HOSTILE = ['a b', '"', "'", '\\', '\\x41', '$HOME', '$$x', '%h', '%%', 'two\nlines', 'tab\t', ';', '', 'é'];
const about = { kind: 'cluster', name: 'dev', directory: 'a\\\n[Service]\nExecStart=/bin/false' };
const unit = unitText({
  description: 'Quarterdeck cluster "dev" 100%',
  command: ['/usr/bin/node', '/opt/q d/qd.js', ...HOSTILE],
  directory: DIRECTORY,
  environment: { HOME: '/home/$a %h "b"' },
  wantedBy: 'multi-user.target',
  about,
});
const settingOf = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1] ?? '';

test('every argument reaches the program as it is', () => {
  expect(parsedWords(settingOf('ExecStart'), { hasVariables: true })).toEqual([
    '/usr/bin/node',
    '/opt/q d/qd.js',
    ...HOSTILE,
  ]);
});

test('other values are read as they were given', () => {
  expect(parsedWords(settingOf('Environment'))).toEqual(['HOME=/home/$a %h "b"']);
  expect(parsedWords(settingOf('RequiresMountsFor'))).toEqual([DIRECTORY]);
  expect(settingOf('Description')).toBe('Quarterdeck cluster "dev" 100%%');
});

test('each setting has its line, and pods outlive a stop', () => {
  expect(unit.match(/^ExecStart=/gm)).toHaveLength(1);
  for (const line of ['Type=exec', 'Restart=on-failure', 'KillMode=process', 'Delegate=yes'])
    expect(unit.split('\n')).toContain(line);
});

test('a unit says what it is of', () => {
  expect(aboutOf(unit)).toEqual(about);
  expect(aboutOf('[Unit]\nDescription=other\n')).toBeUndefined();
});

test('a unit with another program is the same in everything else', () => {
  const program = '/releases/$1 "b"/50%/qd.js';
  const edited = `${unit}# edited\n`;
  const changed = withProgram(edited, program)!;
  const [, command = ''] = /^ExecStart=(.*)$/m.exec(changed)!;
  expect(parsedWords(command, { hasVariables: true })).toEqual(['/usr/bin/node', program, ...HOSTILE]);
  expect(withProgram(changed, '/opt/q d/qd.js')).toBe(edited);
});

test.each([
  ['no command', '[Service]\n'],
  ['a command that is not quoted', '[Service]\nExecStart=/usr/bin/node /opt/qd.js up\n'],
  ['two commands', '[Service]\nExecStart="/bin/node" "/qd.js"\nExecStart="/bin/node" "/qd.js"\n'],
])('a unit with %s is not changed', (_, text) => {
  expect(withProgram(text, '/other/qd.js')).toBeUndefined();
});
