/**
 * The default seccomp profile: an allow list of system calls, like those of other container engines. What is not listed fails with
 * EPERM. Calls that only a capability makes useful are allowed with that capability.
 */
import type { OciArgument, OciSeccomp, OciSyscalls } from './spec.ts';

const ALLOWED = `
accept accept4 access adjtimex alarm bind brk cachestat capget capset chdir chmod chown chown32 clock_adjtime
clock_adjtime64 clock_getres clock_getres_time64 clock_gettime clock_gettime64 clock_nanosleep clock_nanosleep_time64 close
close_range connect copy_file_range creat dup dup2 dup3 epoll_create epoll_create1 epoll_ctl epoll_ctl_old epoll_pwait
epoll_pwait2 epoll_wait epoll_wait_old eventfd eventfd2 execve execveat exit exit_group faccessat faccessat2 fadvise64
fadvise64_64 fallocate fanotify_mark fchdir fchmod fchmodat fchmodat2 fchown fchown32 fchownat fcntl fcntl64 fdatasync
fgetxattr flistxattr flock fork fremovexattr fsetxattr fstat fstat64 fstatat64 fstatfs fstatfs64 fsync ftruncate
ftruncate64 futex futex_requeue futex_time64 futex_wait futex_waitv futex_wake futimesat get_robust_list get_thread_area
getcpu getcwd getdents getdents64 getegid getegid32 geteuid geteuid32 getgid getgid32 getgroups getgroups32 getitimer
getpeername getpgid getpgrp getpid getppid getpriority getrandom getresgid getresgid32 getresuid getresuid32 getrlimit
getrusage getsid getsockname getsockopt gettid gettimeofday getuid getuid32 getxattr getxattrat inotify_add_watch
inotify_init inotify_init1 inotify_rm_watch io_cancel io_destroy io_getevents io_pgetevents io_pgetevents_time64 io_setup
io_submit ioctl ioprio_get ioprio_set ipc kill landlock_add_rule landlock_create_ruleset landlock_restrict_self lchown
lchown32 lgetxattr link linkat listen listmount listxattr listxattrat llistxattr _llseek lremovexattr lseek lsetxattr lstat
lstat64 madvise map_shadow_stack membarrier memfd_create memfd_secret mincore mkdir mkdirat mknod mknodat mlock mlock2
mlockall mmap mmap2 mprotect mq_getsetattr mq_notify mq_open mq_timedreceive mq_timedreceive_time64 mq_timedsend
mq_timedsend_time64 mq_unlink mremap mseal msgctl msgget msgrcv msgsnd msync munlock munlockall munmap name_to_handle_at
nanosleep newfstatat _newselect open openat openat2 pause pidfd_open pidfd_send_signal pipe pipe2 pkey_alloc pkey_free
pkey_mprotect poll ppoll ppoll_time64 prctl pread64 preadv preadv2 prlimit64 process_mrelease pselect6 pselect6_time64
pwrite64 pwritev pwritev2 read readahead readlink readlinkat readv recv recvfrom recvmmsg recvmmsg_time64 recvmsg
remap_file_pages removexattr removexattrat rename renameat renameat2 restart_syscall rmdir rseq rt_sigaction rt_sigpending
rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend rt_sigtimedwait rt_sigtimedwait_time64 rt_tgsigqueueinfo
sched_get_priority_max sched_get_priority_min sched_getaffinity sched_getattr sched_getparam sched_getscheduler
sched_rr_get_interval sched_rr_get_interval_time64 sched_setaffinity sched_setattr sched_setparam sched_setscheduler
sched_yield seccomp select semctl semget semop semtimedop semtimedop_time64 send sendfile sendfile64 sendmmsg sendmsg sendto
set_robust_list set_thread_area set_tid_address setfsgid setfsgid32 setfsuid setfsuid32 setgid setgid32 setgroups
setgroups32 setitimer setpgid setpriority setregid setregid32 setresgid setresgid32 setresuid setresuid32 setreuid
setreuid32 setrlimit setsid setsockopt setuid setuid32 setxattr setxattrat shmat shmctl shmdt shmget shutdown sigaltstack
signalfd signalfd4 sigprocmask sigreturn socketpair splice stat stat64 statfs statfs64 statmount statx symlink
symlinkat sync sync_file_range syncfs sysinfo tee tgkill time timer_create timer_delete timer_getoverrun timer_gettime
timer_gettime64 timer_settime timer_settime64 timerfd_create timerfd_gettime timerfd_gettime64 timerfd_settime
timerfd_settime64 times tkill truncate truncate64 ugetrlimit umask uname unlink unlinkat uretprobe utime utimensat
utimensat_time64 utimes vfork vmsplice wait4 waitid waitpid write writev`;

const ALLOWED_BY_ARCHITECTURE: Readonly<Record<string, string>> = {
  x64: 'arch_prctl modify_ldt',
  arm64: 'arm_fadvise64_64 arm_sync_file_range breakpoint cacheflush set_tls sync_file_range2',
};

const ALLOWED_BY_CAPABILITY: Readonly<Record<string, string>> = {
  BPF: 'bpf',
  DAC_READ_SEARCH: 'open_by_handle_at',
  PERFMON: 'perf_event_open',
  SYS_ADMIN: `bpf clone clone3 fanotify_init fsconfig fsmount fsopen fspick lookup_dcookie lsm_get_self_attr
    lsm_list_modules lsm_set_self_attr mount mount_setattr move_mount open_tree open_tree_attr perf_event_open quotactl
    quotactl_fd setdomainname sethostname setns syslog umount umount2 unshare`,
  SYS_BOOT: 'reboot',
  SYS_CHROOT: 'chroot',
  SYS_MODULE: 'delete_module finit_module init_module',
  SYS_NICE: 'get_mempolicy mbind set_mempolicy set_mempolicy_home_node',
  SYS_PACCT: 'acct',
  SYS_PTRACE: 'kcmp pidfd_getfd process_madvise process_vm_readv process_vm_writev ptrace',
  SYS_RAWIO: 'ioperm iopl',
  SYS_TIME: 'clock_settime clock_settime64 settimeofday stime',
  SYS_TTY_CONFIG: 'vhangup',
  SYSLOG: 'syslog',
};

const ARCHITECTURES: Readonly<Record<string, readonly string[]>> = {
  x64: ['SCMP_ARCH_X86_64', 'SCMP_ARCH_X86', 'SCMP_ARCH_X32'],
  arm64: ['SCMP_ARCH_AARCH64', 'SCMP_ARCH_ARM'],
};

const ALLOW = 'SCMP_ACT_ALLOW';
const FAIL = 'SCMP_ACT_ERRNO';
const EPERM = 1;
const ENOSYS = 38;

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET. */
const NAMESPACE_FLAGS = 0x7e020000;
/** Linux, Linux with short inodes, and 32-bit variants; 0xffffffff asks for the current one. */
const PERSONALITIES = [0x0, 0x0008, 0x20000, 0x20008, 0xffffffff];
/** AF_ALG is 38 and AF_VSOCK 40. */
const FIRST_FAMILY_DENIED = 38;
const FURTHER_FAMILIES = [39, 41, 42, 43, 44, 45];

/** `capabilities` are names without prefix; `architecture` is Node's name. */
export function defaultProfile(architecture: string, capabilities: readonly string[]): OciSeccomp {
  const has = new Set(capabilities);
  const byCapability = Object.entries(ALLOWED_BY_CAPABILITY).flatMap(([name, calls]) =>
    has.has(name) ? words(calls) : [],
  );
  return {
    defaultAction: FAIL,
    defaultErrnoRet: EPERM,
    architectures: ARCHITECTURES[architecture] ?? [],
    syscalls: [
      allow([...words(ALLOWED), ...words(ALLOWED_BY_ARCHITECTURE[architecture] ?? ''), ...new Set(byCapability)]),
      ...PERSONALITIES.map((value) => allow(['personality'], { index: 0, value, op: 'SCMP_CMP_EQ' })),
      // Sockets to the hypervisor and to the kernel's cryptography are not for containers. The filter compares 64 bits, of which the
      // kernel takes 32: nothing may be allowed because it is greater.
      allow(['socket'], { index: 0, value: FIRST_FAMILY_DENIED, op: 'SCMP_CMP_LT' }),
      ...FURTHER_FAMILIES.map((value) => allow(['socket'], { index: 0, value, op: 'SCMP_CMP_EQ' })),
      // 32-bit programs could name the family in memory, where no filter sees it: their libraries call socket instead.
      { names: ['socketcall'], action: FAIL, errnoRet: ENOSYS },
      ...(has.has('SYS_ADMIN') ? [] : withoutNamespaces()),
    ],
  };
}

/** clone3 has its flags in memory, where no filter sees them: without it, the C library calls clone. */
function withoutNamespaces(): OciSyscalls[] {
  return [
    allow(['clone'], { index: 0, value: NAMESPACE_FLAGS, valueTwo: 0, op: 'SCMP_CMP_MASKED_EQ' }),
    { names: ['clone3'], action: FAIL, errnoRet: ENOSYS },
  ];
}

function allow(names: readonly string[], ...args: readonly OciArgument[]): OciSyscalls {
  return { names, action: ALLOW, args: args.length > 0 ? args : undefined };
}

function words(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}
