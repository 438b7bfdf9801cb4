import { expect, it } from 'vitest';
import { unsecuredUser } from './unsecured.ts';

it.each([
  {},
  { host: 'localhost:8080' },
  { host: '127.0.0.1' },
  { host: '127.1.2.3:80' },
  { host: '[::1]:8080' },
  { host: 'LocalHost:8080', origin: 'http://localhost:3000' },
  { host: '127.0.0.1:8080', origin: 'https://127.0.0.1' },
])('accepts requests from this machine: %j', (headers) => {
  expect(unsecuredUser(headers).groups).toContain('system:masters');
});

it.each([
  [{ host: 'evil.example:8080' }, 'the host "evil.example:8080"'],
  [{ host: 'localhost.evil.example' }, 'the host'],
  [{ host: '127.0.0.1.evil.example' }, 'the host'],
  [{ host: '10.0.0.1' }, 'the host'],
  [{ host: 'localhost', origin: 'https://evil.example' }, 'pages of "https://evil.example"'],
  [{ host: 'localhost', origin: 'null' }, 'pages of "null"'],
  [{ host: 'localhost', origin: 'http://localhost@evil.example' }, 'pages of'],
  [{ host: 'localhost', origin: 'file://' }, 'pages of'],
])('rejects all others: %j', (headers, words) => {
  expect(() => unsecuredUser(headers)).toThrow(`forbidden: the port without authentication is not for ${words}`);
});
