/** Runs a copy of a stopped member as an etcd of its own, to read what it has. Nothing in the member changes. */
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { writeWhole } from '../../base/files/own/files.ts';
import { makeDirectories } from '../../base/files/own/make-directories.ts';
import { AssemblyError } from '../assembly-error.ts';
import type { Cleanup } from '../cleanup.ts';
import type { Tools } from '../context.ts';
import { openMemberKeys } from './certificates.ts';
import { clientUrl, type MemberAddress, memberConfiguration } from './configuration.ts';
import { memberArguments } from './left-process.ts';
import { checkMemberRelease } from './member-release.ts';
import { type MemberPaths, memberPaths } from './paths.ts';
import { etcdEnvironment, findEtcd } from './program.ts';
import { Supervisor } from './supervisor.ts';
import { untilServing } from './until-serving.ts';

export interface CopiedMemberOptions extends Tools {
  /** The data directory of the server. */
  readonly directory: string;
  /** A private directory for the copy, which the caller removes. */
  readonly scratch: string;
  /** Where it listens: loopback. */
  readonly address: MemberAddress;
  /** Where programs are searched. */
  readonly path: string;
  readonly cleanup: Cleanup;
}

/** Resolves with where the copy serves, and the files with its keys. */
export async function startCopiedMember(options: CopiedMemberOptions) {
  const { directory, scratch, address, path, clock, random, log, cleanup } = options;
  const paths = memberPaths(scratch);
  const program = await findEtcd(path);
  await checkMemberRelease(memberPaths(directory), program);
  await copyMember(memberPaths(directory), paths);
  const tls = await openMemberKeys({ paths, host: address.host, clock, random });
  const configuration = { ...memberConfiguration({ name: 'copy', joins: [] }, address, paths), ...ALONE };
  await writeWhole(paths.configuration, JSON.stringify(configuration));
  const supervisor = new Supervisor({
    command: [program.path, ...memberArguments(paths)],
    env: { PATH: path, ...etcdEnvironment() },
    logFile: paths.log,
    clock,
    random,
    log,
    mayStartAgain: () => false,
  });
  const stopping = new AbortController();
  cleanup.add(async () => {
    stopping.abort(new Error('the copy is not needed any more'));
    await supervisor.stop();
  });
  const endpoint = clientUrl(address);
  await supervisor
    .start(() => untilServing({ endpoint, tls, clock, log, signal: stopping.signal }))
    .catch((cause: Error) => {
      if (stopping.signal.aborted) throw cause;
      throw new AssemblyError(`a copy of the server's etcd did not start: ${cause.message}; start the server`, {
        cause,
      });
    });
  const { authority, certificate, key } = paths;
  return { etcdServers: [endpoint], etcdCafile: authority, etcdCertfile: certificate, etcdKeyfile: key };
}

/** It forgets the other members, and need not outlive the machine. */
const ALONE = { 'force-new-cluster': true, 'unsafe-no-fsync': true };

async function copyMember(from: MemberPaths, to: MemberPaths): Promise<void> {
  await makeDirectories(to.pki, 0o700);
  await cp(from.data, to.data, { recursive: true });
  for (const name of ['ca.crt', 'ca.key']) await cp(join(from.pki, name), join(to.pki, name));
}
