import { AssemblyError } from '../assembly-error.ts';

export interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

/** An address could not be listened on, for the reason of `cause`. */
export class ListenError extends AssemblyError {
  readonly address: HostAndPort;
  override readonly cause: NodeJS.ErrnoException;

  constructor(address: HostAndPort, cause: NodeJS.ErrnoException) {
    super(`${address.host}:${address.port} cannot be listened on: ${cause.message}`);
    this.address = address;
    this.cause = cause;
  }
}
