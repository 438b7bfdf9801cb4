/** Maps failures of CRI calls to errors of the runtime contract. */
import { type GrpcError, GrpcStatus } from '../../../protocols/grpc/status.ts';
import { RuntimeError, type RuntimeErrorCode } from '../../runtime/errors.ts';

/** containerd reports most failures as UNKNOWN; their cause is only in the message. The first match counts. */
const CANNOT_RUN =
  /executable file not found|exec format error|: permission denied|no such file or directory|chdir to cwd|not a directory/;

const PULL_FAILURES: readonly (readonly [RegExp, RuntimeErrorCode])[] = [
  [/SignatureValidationFailed|signature/i, 'SignatureValidationFailed'],
  [/failed to parse image name|invalid reference format|invalid image name/i, 'InvalidImageName'],
  [/not found|manifest unknown|repository does not exist|pull access denied/i, 'ImageNotFound'],
  [
    /RegistryUnavailable|connection refused|no such host|i\/o timeout|network is unreachable|server misbehaving|50[234]|no route to host|TLS handshake/i,
    'RegistryUnavailable',
  ],
];

export function runtimeError(error: GrpcError): RuntimeError {
  return new RuntimeError(codeOf(error.code), error.message, { cause: error });
}

/** The failure of StartContainer. */
export function startError(error: RuntimeError): RuntimeError {
  if (error.code !== 'Unknown' || !CANNOT_RUN.test(error.message)) return error;
  return new RuntimeError('CannotRun', error.message, { cause: error });
}

/** The failure of PullImage. */
export function pullError(error: RuntimeError): RuntimeError {
  if (error.code === 'Unavailable') return error;
  const code = PULL_FAILURES.find(([pattern]) => pattern.test(error.message))?.[1];
  return code ? new RuntimeError(code, error.message, { cause: error }) : error;
}

function codeOf(status: number): RuntimeErrorCode {
  switch (status) {
    case GrpcStatus.NOT_FOUND:
      return 'NotFound';
    case GrpcStatus.DEADLINE_EXCEEDED:
      return 'DeadlineExceeded';
    case GrpcStatus.UNAVAILABLE:
    case GrpcStatus.CANCELLED:
      return 'Unavailable';
    case GrpcStatus.UNIMPLEMENTED:
      return 'Unsupported';
    default:
      return 'Unknown';
  }
}
