/**
 * Checks every address that is dialled on behalf of an API object, a registry or a redirect. Names are resolved once,
 * the addresses are checked, and the connection goes to a checked address.
 */
import { type LookupAddress, lookup as systemLookup } from 'node:dns';
import { once } from 'node:events';
import { connect, isIP, type LookupFunction, type Socket } from 'node:net';
import { type AddressClass, addressList, classOf, contains } from './address-class.ts';

/** Special addresses that an object is allowed to name. */
export interface DialAllowance {
  /** Loopback addresses. */
  readonly loopback?: boolean;
  /** Addresses of this machine, and of the API server. */
  readonly own?: boolean;
}

export interface DialGuardOptions {
  /** Current addresses of this machine and of the API server. Loopback addresses may be left out. */
  ownAddresses(): Iterable<string>;
  /** Ranges or single addresses that may always be dialled. */
  readonly allowedRanges: readonly string[];
  /** Resolves names; defaults to the system resolver. */
  readonly resolve?: Resolve;
  /** True when nothing may be dialled, and no name be resolved. */
  readonly isClosed?: boolean;
}

export type Resolve = (
  hostname: string,
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

interface ConnectOptions {
  readonly host: string;
  readonly port: number;
  readonly signal?: AbortSignal | undefined;
}

/** An address that must not be dialled, with the message of Kubernetes. */
export class AddressNotAllowedError extends Error {
  override readonly name = 'AddressNotAllowedError';
  readonly code = 'ERR_ADDRESS_NOT_ALLOWED';
  readonly address: string;

  constructor(address: string, why: string) {
    super(`address not allowed: ${address} is ${why}`);
    this.address = address;
  }
}

const REASONS: Readonly<Record<Exclude<AddressClass, 'unicast'>, string>> = {
  loopback: 'a loopback address',
  'link-local': 'a link-local address',
  multicast: 'a multicast or broadcast address',
  unspecified: 'an unspecified address',
};

const NOTHING: DialAllowance = {};

export class DialGuard {
  readonly #allowed: ReturnType<typeof addressList>;
  readonly #resolve: Resolve;

  constructor(private readonly options: DialGuardOptions) {
    this.#allowed = addressList(options.allowedRanges);
    this.#resolve = options.resolve ?? ((hostname, done) => systemLookup(hostname, { all: true }, done));
  }

  /** Returns an error for an IP address that must not be dialled; undefined if it may be. */
  refusalOf(address: string, allowance: DialAllowance = NOTHING): AddressNotAllowedError | undefined {
    if (this.options.isClosed) return closed(address);
    const kind = classOf(address);
    if (kind === undefined) return new AddressNotAllowedError(address, 'not an IP address');
    if (contains(this.#allowed, address) || (kind === 'loopback' && allowance.loopback)) return undefined;
    if (kind !== 'unicast') return new AddressNotAllowedError(address, REASONS[kind]);
    if (allowance.own || !contains(addressList(this.options.ownAddresses()), address)) return undefined;
    return new AddressNotAllowedError(address, 'an address of this machine or of the API server');
  }

  /** For the option `lookup` of sockets, which do not look up IP addresses: callers must use `checkHost` as well. */
  lookup(allowance: DialAllowance = NOTHING): LookupFunction {
    return (hostname, { all, family }, done) => {
      if (this.options.isClosed) return done(closed(hostname), []);
      this.#resolve(hostname, (error, found) => {
        if (error) return done(error, []);
        // A single disallowed address among several is no accident: reject them all.
        const refusal = found.map(({ address }) => this.refusalOf(address, allowance)).find(Boolean);
        if (refusal) return done(refusal, []);
        const usable = found.filter((each) => !family || each.family === family);
        const [first] = usable;
        if (!first) return done(Object.assign(new Error(`no addresses for ${hostname}`), { code: 'ENOTFOUND' }), []);
        return all ? done(null, usable) : done(null, first.address, first.family);
      });
    };
  }

  /** Throws for a host that is a disallowed IP address. IPv6 addresses may be in brackets, as in a URL. */
  checkHost(host: string, allowance: DialAllowance = NOTHING): void {
    const address = host.startsWith('[') ? host.slice(1, -1) : host;
    const refusal = isIP(address) === 0 ? undefined : this.refusalOf(address, allowance);
    if (refusal) throw refusal;
  }

  /** Connects to a host, which may be a name. Rejects with an AddressNotAllowedError or with the error of the socket. */
  async connect({ host, port, signal }: ConnectOptions, allowance: DialAllowance = NOTHING): Promise<Socket> {
    this.checkHost(host, allowance);
    const lookup = this.lookup(allowance);
    const socket = connect({ host, port, lookup, allowHalfOpen: true, signal });
    await once(socket, 'connect');
    return socket;
  }
}

const closed = (host: string) => new AddressNotAllowedError(host, 'outside of this process, which dials nothing');

/** A guard that rejects every address, for a cluster that must not be noticed by others. */
export const CLOSED_GUARD = new DialGuard({ ownAddresses: () => [], allowedRanges: [], isClosed: true });

/** Reports whether a host name always means this machine. */
export function namesLoopback(host: string): boolean {
  const name = (host.startsWith('[') ? host.slice(1, -1) : host).toLowerCase();
  return name === 'localhost' || classOf(name) === 'loopback';
}

/** A guard that rejects special addresses, for callers that do not know their own addresses. */
export const STRICT_GUARD = new DialGuard({ ownAddresses: () => [], allowedRanges: [] });
