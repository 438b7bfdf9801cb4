import { expect, test } from 'vitest';
import { imageNameError } from './image-name.ts';

test.each([
  'nginx',
  'nginx:1.27',
  'nginx:1.27-Alpine_3',
  'library/nginx',
  'my__app--v.2/x_y',
  'registry.example/a/b/c:1',
  'Registry.Example:5000/app',
  'localhost:5000/app:1',
  '[::1]:5000/app',
  `nginx@sha256:${'0'.repeat(64)}`,
  `registry.example/nginx:1@sha256:${'0a'.repeat(32)}`,
])('%s is a name', (image) => {
  expect(imageNameError(image)).toBeUndefined();
});

test.each([
  ['nginx:', 'invalid reference format'],
  ['nginx:1:2', 'invalid reference format'],
  ['nginx 1', 'invalid reference format'],
  ['-nginx', 'invalid reference format'],
  ['a//b', 'invalid reference format'],
  ['nginx@sha256:12', 'invalid reference format'],
  [`nginx:${'x'.repeat(129)}`, 'invalid reference format'],
  ['Nginx:1', 'invalid reference format: repository name (library/Nginx) must be lowercase'],
  ['registry.example/App', 'invalid reference format: repository name (registry.example/App) must be lowercase'],
  ['0'.repeat(64), `invalid repository name (${'0'.repeat(64)}), cannot specify 64-byte hexadecimal strings`],
])('%s is none', (image, why) => {
  expect(imageNameError(image)).toBe(`couldn't parse image name "${image}": ${why}`);
});
