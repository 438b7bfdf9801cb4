/**
 * The launcher: a small Perl program that performs the system calls that Node has no functions for. It decides nothing;
 * `plan.ts` says which calls it makes, in which order. Only Perl's builtins are used, because loading a module takes longer
 * than everything else that it does. Why Perl: docs/decisions/0019-process-runtime.md.
 *
 *   run    supervises the container in the working directory: the plan is the file `plan`, its state is kept in `state`
 *   exec   runs one more command
 *   hold   holds the namespaces of a sandbox
 *   relay  connects to a port in a network namespace
 *
 * Descriptor 3 carries messages to and from the keeper; except for `run`, the plan comes first. The third argument names
 * the standard streams, which are named pipes in the working directory: the keeper may come and go.
 */
export const LAUNCHER_PROGRAM = String.raw`
use strict;
my ($mode, $arch) = @ARGV;
my %NUMBERS = (
  x64 => { mount => 165, umount => 166, pivot_root => 155, unshare => 272, setns => 308, prctl => 157, setgroups => 116,
    setresuid => 117, setresgid => 119, sethostname => 170, setdomainname => 171, mknodat => 259, setsid => 112,
    clock_gettime => 228, mount_setattr => 442, dup2 => 33, prlimit => 302, close => 3 },
  arm64 => { mount => 40, umount => 39, pivot_root => 41, unshare => 97, setns => 268, prctl => 167, setgroups => 159,
    setresuid => 147, setresgid => 149, sethostname => 161, setdomainname => 162, mknodat => 33, setsid => 157,
    clock_gettime => 113, mount_setattr => 442, dup3 => 24, prlimit => 261, close => 57 },
);
my $numbers = $NUMBERS{$arch} or die "no system call numbers for $arch\n";
my ($oldroot, $container, $uid) = (undef, undef, 0);
$^F = 2;
umask(0022);
# Nothing that the keeper has inherited reaches a container: close_range, or one by one on an old kernel.
if (syscall(436, 4, 4294967295, 4) == -1) { opendir(my $open, '/proc/self/fd'); my @numbers = grep { /^\d+$/ && $_ > 3 } readdir($open); closedir($open); syscall($numbers->{close}, $_ + 0) for @numbers }

# Copies the arguments: a system call may write into a text, which a constant does not allow.
sub call { my ($name, @args) = @_; my $result = syscall($numbers->{$name}, @args); $result == -1 ? undef : $result || '0 but true' }
sub now { my $spec = "\0" x 16; syscall($numbers->{clock_gettime}, 0, $spec); my ($s, $ns) = unpack('qq', $spec); int($s * 1000 + $ns / 1e6) }
sub slurp { open(my $file, '<', $_[0]) or die "$_[0]: $!\n"; local $/; my $text = <$file>; defined $text ? $text : '' }
sub put { open(my $file, '>', $_[0]) or die "$_[0]: $!\n"; my $n = syswrite($file, $_[1]); my $ok = defined $n && $n == length $_[1]; my $why = "$!"; close($file) or $ok = 0; $ok or die "$_[0]: $why\n" }
sub quoted { my $text = shift; $text =~ s/([\\"])/\\$1/g; $text =~ s/([\x00-\x1f])/sprintf('\\u%04x', ord $1)/ge; '"' . $text . '"' }
# On a full disk, the keeper still learns it.
sub state_is { my ($text) = @_; eval { put('state.next', $text); rename('state.next', 'state') }; syswrite(ALIVE, "$text\n") }
sub parents { my ($path) = @_; my $made = ''; for my $part (split m{/}, $path) { next if $part eq ''; $made .= "/$part"; mkdir($made, 0755) } }
sub empty_file { my ($path) = @_; return if -e $path; my ($parent) = $path =~ m{^(.*)/}; parents($parent); put($path, '') }
sub close_on_exec { fcntl($_[0], 2, 1) }
sub nonblocking { fcntl($_[0], 4, 2048) }
sub code_of { my ($status) = @_; ($status & 127) ? 128 + ($status & 127) : $status >> 8 }

# A plan is a list of records: the number of fields, then the fields, each ended by a zero byte.
sub records { my @fields = split /\0/, $_[0], -1; pop @fields; my @records; while (@fields) { my $n = shift @fields; push @records, [splice(@fields, 0, $n)] } @records }

my %OPS = (
  # Values for files of cgroups, sysctls and the like.
  write => sub { put($_[0], $_[1]) },
  'try-write' => sub { eval { put($_[0], $_[1]) } },
  unshare => sub { call('unshare', $_[0] + 0) or die "unshare: $!\n" },
  # All are opened first, because entering one may hide the others.
  namespaces => sub {
    my @files = map { open(my $file, '<', $_) or die "$_: $!\n"; $file } @_;
    call('setns', fileno($_), 0) or die "setns: $!\n" for @files;
  },
  # Ids of the namespace and the ids that they stand for: one each, which any user may map.
  'user-namespace' => sub {
    my ($uid, $outer_uid, $gid, $outer_gid) = @_;
    call('unshare', 0x10000000) or die "user namespace: $!\n";
    put('/proc/self/setgroups', 'deny'); put('/proc/self/uid_map', "$uid $outer_uid 1"); put('/proc/self/gid_map', "$gid $outer_gid 1");
  },
  hostname => sub { my ($name) = @_; call('sethostname', $name, length $name) or die "sethostname: $!\n" },
  mount => sub { mount(@_) },
  # Mounts an overlay whose writable layer is in a directory, or in memory where the file system cannot hold one.
  overlay => sub {
    my ($target, $lower, $layer, $options) = @_;
    $options = defined $options ? ",$options" : '';
    if ($layer ne '') {
      mkdir("$layer/upper", 0755); mkdir("$layer/work", 0755);
      return if eval { mount('overlay', $target, 'overlay', 0, "lowerdir=$lower,upperdir=$layer/upper,workdir=$layer/work$options"); 1 };
    }
    mount('tmpfs', $target, 'tmpfs', 0, 'mode=0755');
    mkdir("$target/upper", 0755); mkdir("$target/work", 0755);
    mount('overlay', $target, 'overlay', 0, "lowerdir=$lower,upperdir=$target/upper,workdir=$target/work$options");
  },
  # The old root stays the working directory until detach, so that sources of bind mounts are relative to it.
  pivot => sub {
    my ($root) = @_;
    open($oldroot, '<', '/') or die "/: $!\n";
    chdir($root) or die "$root: $!\n";
    my $here = '.';
    call('pivot_root', $here, '.') or die "pivot_root: $!\n";
    chdir($oldroot) or die "the old root: $!\n";
  },
  detach => sub {
    my $here = '.';
    chdir($oldroot) or die "the old root: $!\n";
    call('umount', $here, 2) or die "umount of the old root: $!\n";
    close($oldroot);
    chdir('/') or die "/: $!\n";
  },
  # Shows the entries of the old root in the new one, except those that are named. Links stay links.
  tree => sub {
    my %left_out = map { $_ => 1 } @_;
    opendir(my $folder, '.') or die "/: $!\n";
    for my $name (readdir($folder)) {
      next if $name eq '.' || $name eq '..' || $left_out{$name};
      if (-l $name) { symlink(readlink($name), "/$name"); next }
      if (-d $name) { mkdir("/$name", 0755); mount($name, "/$name", 'none', 4096 | 16384, ''); read_only_tree("/$name") }
    }
  },
  directory => sub { parents($_[0]); -d $_[0] or die "$_[0]: not a directory\n"; chmod(oct $_[1], $_[0]) if @_ > 1 },
  file => sub { empty_file($_[0]) },
  link => sub { symlink($_[1], $_[0]) },
  # Binds a path of the old root onto a path of the new one, which is created like it.
  bind => sub {
    my ($source, $target, $flags, $attributes) = @_;
    if (-d $source) { parents($target) } else { empty_file($target) }
    mount($source, $target, 'none', 4096 | $flags, '');
    mount('none', $target, 'none', 32 | 4096 | $attributes, '') if $attributes;
  },
  'read-only-tree' => sub { read_only_tree($_[0]) },
  mask => sub {
    my ($target) = @_;
    return if !-e $target;
    if (-d $target) { mount('tmpfs', $target, 'tmpfs', 1, 'size=0k') } else { mount('/dev/null', $target, 'none', 4096, '') }
  },
  readonly => sub {
    my ($target) = @_;
    return if !-e $target;
    mount($target, $target, 'none', 4096 | 16384, '');
    mount('none', $target, 'none', 32 | 4096 | 1, '');
  },
  bounding => sub { for my $cap (@_) { call('prctl', 24, $cap + 0, 0, 0, 0) or $! == 22 or die "dropping capability $cap: $!\n" } },
  groups => sub { my $list = pack('L*', @_); call('setgroups', scalar(@_), $list) or die "setgroups: $!\n" },
  gid => sub { my $id = $_[0] + 0; call('setresgid', $id, $id, $id) or die "setresgid $id: $!\n" },
  uid => sub { my $id = $_[0] + 0; call('setresuid', $id, $id, $id) or die "setresuid $id: $!\n"; $uid = $id },
  'no-new-privileges' => sub { call('prctl', 38, 1, 0, 0, 0) or die "no_new_privs: $!\n" },
  seccomp => sub {
    my $filter = pack('H*', $_[0]); my $program = pack('S x6 P', length($filter) / 8, $filter);
    call('prctl', 22, 2, $program, 0, 0) or die "seccomp: $!\n";
  },
  'working-directory' => sub { my ($path) = @_; chdir($path) or do { parents($path); chdir($path) } or die "chdir to cwd (\"$path\"): $!\n" },
  # Comes after the user has changed, which resets it.
  'dies-with-parent' => sub { dies_with_parent() },
  exec => sub { execute(@_) },
  env => sub { %ENV = (); for (@_) { my ($name, $value) = split /=/, $_, 2; $ENV{$name} = $value } },
);

sub mount {
  my ($source, $target, $type, $flags, $data) = @_;
  $flags += 0;
  call('mount', "$source", "$target", "$type", $flags, "$data") or die "mount $type on $target: $!\n";
}

sub read_only_tree {
  my ($target) = @_;
  call('mount_setattr', -100, "$target", 0x8000, pack('Q4', 1, 0, 0, 0), 32) or die "mount_setattr $target: $!\n";
}

sub execute {
  my ($command) = @_;
  my @found = $command =~ m{/} ? ($command) : map { ($_ eq '' ? '.' : $_) . "/$command" } split(/:/, defined $ENV{PATH} ? $ENV{PATH} : '', -1);
  my $why = '';
  for my $file (@found) {
    next if !-e $file;
    if (-d $file) { $why = 'is a directory'; next }
    exec { $file } @_;
    $why = "$!";
  }
  die "exec: \"$command\": " . ($command =~ m{/} ? 'stat ' . $command . ': no such file or directory' : 'executable file not found in $PATH') . "\n" if $why eq '';
  die "exec: \"$command\": \L$why\E\n";
}

sub perform { for my $record (@_) { my ($op, @args) = @$record; my $sub = $OPS{$op} or die "unknown operation $op\n"; $sub->(@args) } }

sub dies_with_parent { call('prctl', 1, 9, 0, 0, 0) }

# The records up to the first of a name, and those after it.
sub divided { my ($name, @records) = @_; my @before; while (@records) { my $r = shift @records; return (\@before, \@records) if $r->[0] eq $name; push @before, $r } (\@before, []) }

sub default_signals { $SIG{$_} = 'DEFAULT' for qw(HUP INT QUIT TERM PIPE CHLD USR1 USR2) }

# Starts the command of a plan in a child, and returns its id and, with a terminal, the master side. The records before
# 'fork' are performed here, the others in the child; 'terminal' opens one below the given directory. Dies with a message
# when a step of the child fails.
sub start {
  my ($streams, @records) = @_;
  my ($outer, $inner) = divided('fork', @records);
  perform(@$outer);
  my ($before, $after) = divided('terminal', @$inner);
  my $has_terminal = @$after > 0;
  my ($result_r, $result_w, $ready_r, $ready_w, $go_r, $go_w);
  pipe($result_r, $result_w); pipe($ready_r, $ready_w); pipe($go_r, $go_w);
  my $pid = fork();
  defined $pid or die "fork: $!\n";
  if ($pid == 0) {
    close($result_r); close($ready_r); close($go_w);
    eval {
      default_signals();
      call('setsid');
      $streams->() if $streams && !$has_terminal;
      perform(@$before);
      if ($has_terminal) {
        syswrite($ready_w, "\n");
        my $name = <$go_r>;
        defined $name or die "no terminal\n";
        chomp $name;
        open(my $slave, '+<', $name) or die "$name: $!\n";
        my ($owner) = map { $_->[1] } grep { $_->[0] eq 'uid' } @$after;
        chown($owner, -1, $name) if defined $owner;
        ioctl($slave, 0x540e, 0) or die "controlling terminal: $!\n";
        open(STDIN, '<&', $slave); open(STDOUT, '>&', $slave); open(STDERR, '>&', $slave);
      }
      my @last = $has_terminal ? @$after : ();
      perform(@last);
    };
    my $why = $@ || "nothing to run\n";
    syswrite($result_w, $why);
    exit(127);
  }
  close($result_w); close($ready_w); close($go_r);
  my $master;
  if ($has_terminal && defined(my $line = <$ready_r>)) {
    my ($directory) = grep { -e "$_/ptmx" } ("/proc/$pid/root/dev/pts", '/dev/pts');
    my $multiplexer = -c "$directory/ptmx" && -w "$directory/ptmx" ? "$directory/ptmx" : '/dev/ptmx';
    if (open($master, '+<', $multiplexer)) {
      my ($unlock, $number) = (pack('i', 0), pack('i', 0));
      ioctl($master, 0x40045431, $unlock); ioctl($master, 0x80045430, $number);
      syswrite($go_w, '/dev/pts/' . unpack('i', $number) . "\n");
    }
  }
  close($go_w);
  my $why = do { local $/; <$result_r> };
  if (defined $why && $why ne '') { waitpid($pid, 0); die $why }
  ($pid, $master);
}

# Copies between descriptors until the child has ended and what it wrote was copied.
sub pump {
  my ($pid, $master, $in, $out, $control) = @_;
  # pidfd_open: a descriptor that is readable once the child has ended. SIGCHLD alone is not enough: one that arrives just
  # before select does not interrupt it. Kernels before 5.3 have only the signal; there the child is looked at every second.
  my $end = syscall(434, $pid + 0, 0);
  my $timeout = $end == -1 ? 1 : undef;
  local $SIG{CHLD} = sub {};
  nonblocking($_) for grep { defined } ($master, $in, $control);
  my ($to_master, $to_out, $lines, $status) = ('', '', '', undef);
  while (1) {
    if (!defined $status && waitpid($pid, 1) == $pid) { $status = $? }
    my ($r, $w) = ('', '');
    vec($r, $end, 1) = 1 if $end != -1 && !defined $status;
    vec($r, fileno($in), 1) = 1 if $in && $to_master eq '' && !defined $status;
    vec($r, fileno($control), 1) = 1 if $control && !defined $status;
    vec($r, fileno($master), 1) = 1 if $master && $to_out eq '';
    vec($w, fileno($master), 1) = 1 if $master && $to_master ne '';
    vec($w, fileno($out), 1) = 1 if $to_out ne '';
    # What a process that has ended left on the terminal is read without waiting.
    my $count = select($r, $w, undef, !defined $status ? $timeout : $to_out eq '' ? 0 : undef);
    next if $count < 0;
    last if $count == 0 && defined $status;
    if ($in && vec($r, fileno($in), 1)) {
      my $n = sysread($in, $to_master, 65536);
      if (defined $n && $n == 0) { undef $in; $to_master = "\x04" }
    }
    if ($control && vec($r, fileno($control), 1)) {
      my $n = sysread($control, $lines, 4096, length $lines);
      if (defined $n && $n == 0) { undef $control; kill -9, $pid if $mode eq 'exec' }
      while ($lines =~ s/^resize (\d+) (\d+)\n//) { my $size = pack('S4', $2, $1, 0, 0); ioctl($master, 0x5414, $size) if $master }
    }
    if ($to_master ne '' && $master && vec($w, fileno($master), 1)) { my $n = syswrite($master, $to_master); substr($to_master, 0, $n) = '' if defined $n }
    if ($master && vec($r, fileno($master), 1)) { my $n = sysread($master, $to_out, 65536); if (!$n && $! != 11 && $! != 4) { last if defined $status; undef $master; $to_out = '' } }
    if ($to_out ne '' && vec($w, fileno($out), 1)) { my $n = syswrite($out, $to_out); if (defined $n) { substr($to_out, 0, $n) = '' } elsif ($! != 11) { $to_out = '' } }
  }
  $status;
}

sub read_plan {
  my $control = shift;
  my $length = '';
  while (sysread($control, my $char, 1)) { last if $char eq "\n"; $length .= $char }
  my $plan = '';
  while (length($plan) < $length) { sysread($control, $plan, $length - length($plan), length $plan) or die "no plan\n" }
  records($plan);
}

open(my $control, '+<&=', 3) or die "descriptor 3: $!\n";
close_on_exec($control);

# Waits for a line on the control descriptor, without reading beyond it.
sub expect_line { my $line = ''; while (sysread($control, my $char, 1)) { return $line if $char eq "\n"; $line .= $char } exit(1) }

# Makes the named pipes of the standard streams in the working directory. Each is held open for reading and writing, so that
# neither side ever waits for the other or loses what is in it; the command gets one end.
my (%held, %given);
sub make_streams {
  for my $name (@_) {
    my $path = $name;
    call('mknodat', -100, $path, 0010666, 0) or $! == 17 or die "mkfifo $name: $!\n";
    chmod(0666, $name);
    open(my $both, '+<', $name) or die "$name: $!\n";
    $held{$name} = $both;
  }
  for my $name (grep { $held{$_} } qw(stdin stdout stderr)) {
    open(my $end, $name eq 'stdin' ? '<' : '>', $name) or die "$name: $!\n";
    $given{$name} = $end;
  }
  syswrite($control, "ready\n");
  expect_line() eq 'go' or exit(1);
}
sub use_streams {
  open(my $null, '+<', '/dev/null') or die "/dev/null: $!\n";
  open(STDIN, '<&', $given{stdin} || $null) or die "stdin: $!\n";
  open(STDOUT, '>&', $given{stdout} || $null) or die "stdout: $!\n";
  open(STDERR, '>&', $given{stderr} || $null) or die "stderr: $!\n";
}

my @streams = split /,/, defined $ARGV[2] ? $ARGV[2] : '';

if ($mode eq 'run') {
  $SIG{$_} = 'IGNORE' for qw(HUP INT QUIT TERM PIPE USR1 USR2);
  my ($pid, $master) = eval {
    my @records = records(slurp('plan'));
    my $is_once = grep { $_ eq 'once' } @streams;
    make_streams('alive', grep { $_ ne 'once' } @streams);
    close($control);
    open(ALIVE, '>', 'alive') or die "alive: $!\n";
    delete $held{alive};
    delete $held{stdin} if $is_once;
    start(\&use_streams, @records);
  };
  if ($@) { my $why = $@; chomp $why; state_is('{"state":"failed","at":' . now() . ',"message":' . quoted($why) . '}'); exit(0) }
  my $started = now();
  state_is('{"state":"running","at":' . $started . ",\"pid\":$pid}");
  my $status;
  if ($master) { $status = pump($pid, $master, $given{stdin}, $given{stdout}, $held{control}) }
  else { %given = (); waitpid($pid, 0); $status = $? }
  state_is('{"state":"exited","at":' . $started . ',"finishedAt":' . now() . ',"exitCode":' . code_of($status) . ',"signal":' . ($status & 127) . ",\"pid\":$pid}");
  exit(0);
}

if ($mode eq 'exec') {
  $SIG{PIPE} = 'IGNORE';
  my ($pid, $master) = eval { my @records = read_plan($control); make_streams(@streams) if @streams; start(\&use_streams, @records) };
  if ($@) { my $why = $@; chomp $why; syswrite($control, "failed $why\n"); exit(126) }
  %held = ();
  syswrite($control, "started $pid\n");
  my $status;
  if ($master) { $status = pump($pid, $master, $given{stdin}, $given{stdout}, $control) }
  else { %given = (); $status = pump($pid, undef, undef, undef, $control) }
  exit(code_of($status));
}

if ($mode eq 'hold') {
  $SIG{$_} = 'IGNORE' for qw(HUP INT QUIT TERM PIPE CHLD USR1 USR2);
  my $pid = $$;
  eval {
    my ($outer, $inner) = divided('fork', read_plan($control));
    my $alive = 'alive';
    call('mknodat', -100, $alive, 0010600, 0) or $! == 17 or die "mkfifo alive: $!\n";
    open(ALIVE, '+<', 'alive') or die "alive: $!\n";
    perform(@$outer);
    if (@$inner) {
      $pid = fork();
      defined $pid or die "fork: $!\n";
      if ($pid == 0) { dies_with_parent(); perform(grep { $_->[0] ne 'init' } @$inner); close(ALIVE); close($control); select(undef, undef, undef, undef) while 1 }
    }
    syswrite($control, "ready $pid\n");
    # The network is configured from inside once the other end is there.
    my $batch = '';
    while ($batch !~ /^(configure .*?\n)?go\n/s) { sysread($control, $batch, 65536, length $batch) or die "no answer\n" }
    if ($batch =~ /^configure (\S+)\n(.*)go\n/s) {
      local $SIG{CHLD} = 'DEFAULT';
      my ($program, $text) = ($1, $2);
      open(my $ip, '|-', $program, '-batch', '-') or die "$program: $!\n";
      print $ip $text; close($ip) or die "configuring the network failed\n";
    }
  };
  if ($@) { my $why = $@; chomp $why; syswrite($control, "failed $why\n"); exit(1) }
  syswrite($control, "done\n");
  close($control); open(STDIN, '<', '/dev/null'); open(STDOUT, '>', '/dev/null'); open(STDERR, '>', '/dev/null');
  chdir('/');
  if ($pid != $$) { $SIG{CHLD} = 'DEFAULT'; waitpid($pid, 0); exit(0) }
  select(undef, undef, undef, undef) while 1;
}

if ($mode eq 'relay') {
  $SIG{PIPE} = 'IGNORE';
  my $socket;
  my $ok = eval {
    my @records = read_plan($control);
    my ($port) = map { $_->[1] } grep { $_->[0] eq 'port' } @records;
    perform(grep { $_->[0] ne 'port' } @records);
    socket($socket, 2, 1, 0) or die "socket: $!\n";
    if (!connect($socket, pack('S n a4 x8', 2, $port, "\x7f\0\0\1"))) {
      my $why = "$!";
      socket($socket, 10, 1, 0) && connect($socket, pack('S n N a16 N', 10, $port, 0, ("\0" x 15) . "\1", 0)) or die "dial tcp4 127.0.0.1:$port: connect: \L$why\E\n";
    }
    1;
  };
  if (!$ok) { my $why = $@; chomp $why; syswrite($control, "failed $why\n"); exit(1) }
  syswrite($control, "started 0\n");
  my $child = fork();
  my ($from, $to) = $child ? (\*STDIN, $socket) : ($socket, \*STDOUT);
  while (sysread($from, my $data, 65536)) { my $sent = 0; while ($sent < length $data) { my $n = syswrite($to, $data, length($data) - $sent, $sent); exit(0) if !defined $n; $sent += $n } }
  if ($child) { shutdown($socket, 1); waitpid($child, 0) } else { close(STDOUT); shutdown($socket, 0) }
  exit(0);
}
`;
