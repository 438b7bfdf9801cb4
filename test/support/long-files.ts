/** The files that take longest, in seconds of a full run on two busy cores, longest first. Others take less than twenty. */
export const LONG_FILES: readonly string[] = [
  // Programs.
  'test/runtimes/process.programs.test.ts', // 340
  'test/e2e/outliving/outliving.programs.test.ts', // 170
  'test/e2e/lifecycle.programs.test.ts', // 155
  'test/e2e/pods/streams.programs.test.ts', // 150
  'test/e2e/clusters.programs.test.ts', // 150
  'test/runtimes/containerd.programs.test.ts', // 140
  'test/package/package.programs.test.ts', // 140
  'test/docs/commands.programs.test.ts', // 120
  'test/e2e/federation.programs.test.ts', // 100
  'test/e2e/generic-operations.programs.test.ts', // 93
  'test/e2e/secrets-at-rest.programs.test.ts', // 89
  'test/node-releases/node-releases.programs.test.ts', // 86
  'test/isolation/oci.programs.test.ts', // 83
  'test/e2e/two-servers.programs.test.ts', // 82
  'test/e2e/machines/failover.programs.test.ts', // 80
  'test/e2e/host-ports/host-ports.programs.test.ts', // 75
  'test/e2e/machines/machines.programs.test.ts', // 74
  'test/e2e/start.programs.test.ts', // 70
  'test/e2e/rejected-flags.programs.test.ts', // 70
  'test/e2e/machines/servers.programs.test.ts', // 67
  'test/e2e/services/agent-without-root.programs.test.ts', // 67
  'test/e2e/pods/machine-process.programs.test.ts', // 65
  'test/isolation/containerd.programs.test.ts', // 53
  'test/e2e/pods/machine-containerd.programs.test.ts', // 50
  'test/e2e/identities.programs.test.ts', // 49
  'test/e2e/services/process.programs.test.ts', // 41
  'test/e2e/services/containerd.programs.test.ts', // 41
  'src/store/etcd/etcd-store.programs.test.ts', // 40
  'test/e2e/testing/testing.programs.test.ts', // 39
  'test/isolation/agent-process.programs.test.ts', // 37
  'test/e2e/images.programs.test.ts', // 35
  'test/runtimes/process-plain.programs.test.ts', // 34
  'test/e2e/kubectl/change.programs.test.ts', // 34
  'test/testing/cluster.programs.test.ts', // 34
  'test/isolation/agent-containerd.programs.test.ts', // 32
  'test/e2e/volumes.programs.test.ts', // 28
  'test/e2e/kubectl/apply.programs.test.ts', // 27
  'test/e2e/pods/pod-files.programs.test.ts', // 27
  'test/e2e/pods/process.programs.test.ts', // 27
  'test/e2e/pods/containerd.programs.test.ts', // 27
  'test/e2e/kubectl/create.programs.test.ts', // 25
  'test/e2e/machines/removed-directory.programs.test.ts', // 24
  'test/network/nftables.programs.test.ts', // 23
  'test/e2e/service.programs.test.ts', // 22
  'test/e2e/simulated.programs.test.ts', // 21
  // Programs in processes of their own.
  'test/runtimes/process-user.programs.isolated.test.ts', // 29
  'test/runtimes/process-delegated.programs.isolated.test.ts', // 21
  // No programs.
  'src/server/serving/http/front/front-thread.test.ts', // 36
  'test/testing/determinism.test.ts', // 30
  'src/server/serving/http/server.test.ts', // 23
  'src/server/access/authz/rbac/rbac.isolated.test.ts', // 25
  'src/server/bounded-caches.isolated.test.ts', // 23
  // Measuring.
  'test/linear/doubling-groups.measuring.test.ts', // 75
  'test/linear/doubling-core.measuring.test.ts', // 75
  'test/crash/cluster/cluster.measuring.test.ts', // 60
];
