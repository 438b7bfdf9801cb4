import { describe, expect, it } from 'vitest';
import { decodeOrigin, encodeOrigin } from './origin-row.ts';

describe('the row of an origin', () => {
  it('keeps every field', () => {
    const origin = { user: 'ål "x"', client: 'kubectl/v1.36', manager: 'm', request: 'r', isStatus: true };
    expect(decodeOrigin(encodeOrigin(origin))).toEqual(origin);
    expect(decodeOrigin(encodeOrigin({ user: 'u' }))).toEqual({ user: 'u', isStatus: false });
  });

  it('is not taken from what another program has written', () => {
    for (const text of ['', 'null', '{}', '[]', '[1]', '[', '"alice"']) {
      expect(decodeOrigin(Buffer.from(text)), text).toBeUndefined();
    }
    expect(decodeOrigin(Buffer.from('["alice",{},7,null,"yes"]'))).toEqual({ user: 'alice', isStatus: false });
  });
});
