/**
 * Requires code that sends HTTP requests to handle a server that switches protocols: without a listener, Node closes
 * the connection, and the request neither gets a response nor fails.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { filesBelow, isTest, root } from './source.ts';

const IMPORTED = /import \{[^}]*\b(?:request|get)\b(?! from)[^}]*\} from 'node:https?';/;
const CALLED =
  /\b(?:http|https)\.(?:request|get)\(|\(isPlain \? http : https\)|\(plain \? http : https\)|\(isTls \? https : http\)/;
const HANDLED = /refuseUpgrade\(|\.on(?:ce)?\('upgrade'/;

test('requests end when the server switches protocols', () => {
  const senders = filesBelow('src', '.ts').filter((path) => {
    const text = readFileSync(join(root, path), 'utf8');
    return !isTest(path) && (IMPORTED.test(text) || CALLED.test(text));
  });
  expect(senders.length).toBeGreaterThan(8);
  const unhandled = senders.filter((path) => !HANDLED.test(readFileSync(join(root, path), 'utf8')));
  expect(unhandled).toEqual([]);
});
