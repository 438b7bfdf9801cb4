import { expect, it } from 'vitest';
import { checkMarker } from './markers.ts';

it('accepts only rows that are not objects', () => {
  const value = Buffer.from('x');
  checkMarker({ key: '/quarterdeck/a', value });
  expect(() => checkMarker({ key: '/registry/core/pods/default/a', value })).toThrow('is not a marker');
});
