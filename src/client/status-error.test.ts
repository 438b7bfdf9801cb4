import { expect, it } from 'vitest';
import { ApiError, type Reason, reasons } from '../api/errors.ts';
import { errorOfCode, errorOfStatus } from './status-error.ts';

const CODES = Array.from({ length: 600 }, (_, code) => code);

it('converts every status of a server or proxy to an error of the table', () => {
  for (const code of CODES) {
    for (const error of [errorOfCode(code, ''), errorOfStatus({ code }), errorOfStatus({ code, reason: 'toString' })]) {
      expect(Object.hasOwn(reasons, error.reason), `${code}`).toBe(true);
      expect(typeof error.retryable).toBe('boolean');
      expect(error.toStatus().code).toBe(error.code);
    }
  }
  for (const status of [undefined, null, 7, 'no', [], {}, { code: '404', reason: 5, message: {}, details: [] }]) {
    expect(errorOfStatus(status)).toMatchObject({ reason: 'InternalError', retryable: false });
  }
});

it('creates only errors of the table, even for unknown reasons from JavaScript', () => {
  const error = new ApiError(undefined as unknown as Reason, 'made by hand');
  expect(error).toMatchObject({ reason: 'Unknown', code: 500, retryable: false });
});
