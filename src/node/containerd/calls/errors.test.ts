import { expect, it } from 'vitest';
import { GrpcError, GrpcStatus } from '../../../protocols/grpc/status.ts';
import { pullError, runtimeError, startError } from './errors.ts';

it.each([
  [GrpcStatus.NOT_FOUND, 'NotFound'],
  [GrpcStatus.DEADLINE_EXCEEDED, 'DeadlineExceeded'],
  [GrpcStatus.UNAVAILABLE, 'Unavailable'],
  [GrpcStatus.UNIMPLEMENTED, 'Unsupported'],
  [GrpcStatus.INTERNAL, 'Unknown'],
])('a failure with status %s is %s', (status, code) => {
  expect(runtimeError(new GrpcError(status, 'why'))).toMatchObject({ code, message: 'why' });
});

it.each([
  ['failed to resolve reference "a/b:1": a/b:1: not found', 'ImageNotFound'],
  [
    'failed to do request: Head "http://127.0.0.1:1/v2/": dial tcp 127.0.0.1:1: connect: connection refused',
    'RegistryUnavailable',
  ],
  ['failed to parse image reference "A": invalid reference format', 'InvalidImageName'],
  ['SignatureValidationFailed: no', 'SignatureValidationFailed'],
  ['failed to authorize: unexpected status: 401 Unauthorized', 'Unknown'],
])('a failure of a pull says why: %s', (message, code) => {
  expect(pullError(runtimeError(new GrpcError(GrpcStatus.UNKNOWN, message))).code).toBe(code);
});

it.each([
  ['exec: "/x": stat /x: no such file or directory: unknown', 'CannotRun'],
  ['exec: "x": executable file not found in $PATH: unknown', 'CannotRun'],
  ['failed to create shim task: context canceled', 'Unknown'],
])('a failure of a start says why: %s', (message, code) => {
  expect(startError(runtimeError(new GrpcError(GrpcStatus.UNKNOWN, message))).code).toBe(code);
});
