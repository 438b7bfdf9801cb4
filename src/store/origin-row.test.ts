import { describe, expect, it } from 'vitest';
import { decodeOrigin, encodeOrigin } from './origin-row.ts';

describe('the row of an origin', () => {
  it('keeps every field', () => {
    const origin = { user: 'ål "x"', client: 'kubectl/v1.36', manager: 'm', request: 'r', isStatus: true };
    expect(decodeOrigin(encodeOrigin(origin, 5))).toEqual({ origin, time: 5 });
    expect(decodeOrigin(encodeOrigin({ user: 'u' }, 5))?.origin).toEqual({ user: 'u', isStatus: false });
  });

  it('is not taken from what another program has written', () => {
    for (const text of ['', 'null', '{}', '[]', '[1]', '[', '"alice"', '["alice"]', '["alice",0,0,0,0,"5"]']) {
      expect(decodeOrigin(Buffer.from(text)), text).toBeUndefined();
    }
    const origin = { user: 'alice', isStatus: false };
    expect(decodeOrigin(Buffer.from('["alice",{},7,null,"yes",5]'))).toEqual({ origin, time: 5 });
  });
});
