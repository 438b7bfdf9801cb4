import { describe, expect, it } from 'vitest';
import { ApiError } from '../../api/errors.ts';
import { knownHistory, momentOf, parsePointInTime } from './point-in-time.ts';

describe('a point in time', () => {
  it.each([
    ['10 minutes ago', { agoMs: 600_000 }],
    ['1 hour 30 minutes ago', { agoMs: 5_400_000 }],
    ['90s', { agoMs: 90_000 }],
    ['2h ago', { agoMs: 7_200_000 }],
    ['1500', { resourceVersion: '1500' }],
    ['2030-01-01T12:00:00Z', { time: Date.UTC(2030, 0, 1, 12) }],
  ])('%s is understood', (text, point) => {
    expect(parsePointInTime(text)).toEqual(point);
  });

  it.each(['tomorrow', '', '10 parsecs ago', '-5m', '0', '2030-99-99'])('%j is rejected', (text) => {
    expect(() => parsePointInTime(text)).toThrow('is not a time');
  });

  const history = { now: '2030-01-01T00:10:00.000Z', oldest: { time: '2030-01-01T00:00:00.000Z' } };

  it('is a time of the server, or the version itself', () => {
    expect(momentOf({ agoMs: 60_000 }, history)).toBe('2030-01-01T00:09:00.000Z');
    expect(momentOf({ time: Date.UTC(2030, 0, 1) }, history)).toBe('2030-01-01T00:00:00.000Z');
    expect(momentOf({ resourceVersion: '3' }, history)).toBe('3');
  });

  it('is rejected where history does not reach, and in the future', () => {
    expect(() => momentOf({ agoMs: 600_001 }, history)).toThrow(
      /begins at 2030-01-01T00:00:00.000Z.*--history-duration/,
    );
    expect(() => momentOf({ time: Date.UTC(2031) }, history)).toThrow('in the future');
  });

  it('needs a server that tells it, and rights', async () => {
    const failing = (reason: 'NotFound' | 'Forbidden') => async () => {
      throw new ApiError(reason, 'x');
    };
    await expect(knownHistory(failing('NotFound'))).rejects.toThrow('not a Quarterdeck server');
    await expect(knownHistory(async () => ({ now: '', revisions: [] }))).rejects.toThrow('an older release');
    await expect(knownHistory(failing('Forbidden'))).rejects.toThrow('may not read /history');
  });
});
