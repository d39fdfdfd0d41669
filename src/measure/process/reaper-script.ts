/**
 * The process that owns a harness: reaps every descendant, adds up their resource usage and outlives them all.
 * In Perl, because most Linux systems have perl-base, and its `syscall` reaches calls that Node cannot make.
 * Passed with -e, so that no script file can be changed while it runs.
 *
 * stdin: 8 digits of length, a launch (NUL-separated), then one letter a command: t = TERM, k = KILL. End of file
 * means that winnow is dead and everything must end. stdout: one record when all processes of a launch have ended, or
 * why it was lost. A line "end" with the worker's status follows when the worker is gone.
 *
 * Launches run one after the other. Each has its own worker, forked from this small process, which costs a fraction of
 * a fork of node. A worker prepares its namespaces while no launch runs, so they are ready for the next one. If mounts
 * have changed since, the worker is replaced, because its namespaces would not show them. A harness cannot reach either
 * descriptor through /proc: while it runs, no process that holds them is dumpable.
 */
export const REAPER_SCRIPT = String.raw`
use strict;
my ($mode, $arch, $parent, $uid, $gid) = @ARGV;
my %nr = $arch eq 'arm64'
  ? (prctl => 167, unshare => 97, mount => 40, wait4 => 260, signalfd4 => 74, sigprocmask => 135, kill => 129,
     clock => 113, setsid => 157, setresuid => 147, setresgid => 149, setgroups => 159, prlimit => 261)
  : (prctl => 157, unshare => 272, mount => 165, wait4 => 61, signalfd4 => 289, sigprocmask => 14, kill => 62,
     clock => 228, setsid => 112, setresuid => 117, setresgid => 119, setgroups => 116, prlimit => 302);
sub call { my $name = shift; my $got = syscall($nr{$name}, @_); die "$name: $!\n" if $got == -1; $got }
sub now { my $at = "\0" x 16; call('clock', 1, $at); my ($s, $n) = unpack 'qq', $at; $s * 1e9 + $n }
sub put { my ($path, $text) = @_; open my $to, '>', $path or die "$path: $!\n";
  syswrite($to, $text) == length $text or die "$path: $!\n"; close $to or die "$path: $!\n" }
sub take { my $size = shift; my $text = '';
  while (length $text < $size) { sysread(STDIN, $text, $size - length $text, length $text) or exit 0 }
  $text }
# Skips a command that came after its launch had ended.
sub header { my $digit; do { $digit = take(1) } while $digit =~ /[tk]/; $digit . take(7) }

my ($command, $cwd, $out, $err, $most, @env);
my ($main, %own, $status, $start, $end) = (0);
my ($cpu, $rss, $survivors) = (0, 0, 0);

sub identity { my $map = shift; open my $from, '<', "/proc/self/$map" or die "$map: $!\n";
  join '', map { my ($inside, undef, $count) = split; "$inside $inside $count\n" } <$from> }

# As root, every id maps to itself. Only a process outside the new namespace may write such a map.
sub enter_namespaces {
  call('prctl', 1, 9, 0, 0, 0);
  exit 1 if getppid != $parent;
  my $flags = 0x10000000 | 0x20000000 | 0x20000;
  if ($> == 0) {
    my %map = map { $_ => identity($_) } 'uid_map', 'gid_map';
    pipe my $ready, my $tell or die "pipe: $!\n";
    my $self = $$;
    my $mapper = fork;
    die "fork: $!\n" unless defined $mapper;
    if ($mapper == 0) {
      close $tell;
      sysread $ready, my $go, 1 or exit 1;
      put("/proc/$self/$_", $map{$_}) for 'uid_map', 'gid_map';
      exit 0;
    }
    close $ready;
    call('unshare', $flags);
    syswrite $tell, 'x';
    waitpid $mapper, 0;
    die "user namespace: no map\n" if $?;
  } else {
    my ($user, $group) = ($>, (split ' ', $))[0]);
    call('unshare', $flags);
    put('/proc/self/setgroups', 'deny');
    put('/proc/self/uid_map', "$user $user 1");
    put('/proc/self/gid_map', "$group $group 1");
  }
  call('prctl', 1, 9, 0, 0, 0);
  my $init = fork;
  die "fork: $!\n" unless defined $init;
  if ($init) { close STDIN; close STDOUT; waitpid $init, 0; exit($? ? 1 : 0) }
  call('prctl', 1, 9, 0, 0, 0);
  # Mounts an own /proc if the host allows it: tools that look themselves up by pid need a matching one.
  my ($none, $root, $type, $proc) = ('none', '/', 'proc', '/proc');
  syscall($nr{mount}, $none, $root, $none, 0x4000 | 0x40000, 0) == 0
    and syscall($nr{mount}, $type, $proc, $type, 2 | 4 | 8, 0);
}

# Memory and files that another side could find. Where the side itself lies below such a folder, it stays shared.
sub hide_shared_folders {
  my ($none, $tmpfs, $shm, $mode) = ('none', 'tmpfs', '/dev/shm', 'mode=1777');
  my $places = join "\0", $cwd, $out, $err, map { (split /=/, $_, 2)[1] } @env;
  syscall($nr{mount}, $tmpfs, $shm, $tmpfs, 2 | 4, $mode) unless $places =~ m{/dev/shm\b};
  my ($own) = map { /^TMPDIR=(.+)/s ? $1 : () } @env;
  for my $tmp ('/tmp', '/var/tmp') {
    my $target = $tmp;
    syscall($nr{mount}, $own, $target, $none, 0x1000, 0) if defined $own && $places !~ m{(?:^|[\0:])$tmp(?:[/\0:]|$)};
  }
}

# The kernel counts the processes of a user. In a user namespace it counts those of the namespace, since Linux 5.14.
sub limit_processes {
  return unless $most;
  if ($mode ne 'uid') {
    open my $from, '<', '/proc/sys/kernel/osrelease' or return;
    my ($major, $minor) = <$from> =~ /^(\d+)\.(\d+)/ or return;
    return if $mode ne 'pid-namespace' || $> == 0 || $major < 5 || ($major == 5 && $minor < 14);
  }
  my $now = "\0" x 16;
  call('prlimit', 0, 6, 0, $now);
  my (undef, $hard) = unpack 'QQ', $now;
  my $limit = pack 'QQ', ($most < $hard ? $most + 0 : $hard) x 2;
  call('prlimit', 0, 6, $limit, 0);
}

# If memory runs out, the kernel ends these processes, and not winnow or what else runs here.
sub go_first { open my $to, '>', '/proc/self/oom_score_adj' or return; syswrite $to, '1000' }

# From here on setuid and setgid bits have no effect.
sub drop {
  call('prctl', 38, 1, 0, 0, 0);
  call('setgroups', 0, 0); call('setresgid', ($gid + 0) x 3); call('setresuid', ($uid + 0) x 3);
  die "still uid $>\n" if $uid == 0 || $< != $uid || $> != $uid }

sub descendants {
  my %of;
  opendir my $proc, '/proc' or die "/proc: $!\n";
  for my $pid (grep { /^\d+$/ } readdir $proc) {
    open my $stat, '<', "/proc/$pid/stat" or next;
    my $line = <$stat>;
    push @{ $of{$1} }, $pid if defined $line && $line =~ /^.*\) \S (\d+)/s;
  }
  my @found = @{ $of{$$} || [] };
  for (my $at = 0; $at < @found; $at++) { push @found, @{ $of{ $found[$at] } || [] } }
  grep { !$own{$_} } @found;
}

sub kill_all { my $sig = shift;
  if ($mode eq 'pid-namespace') { syscall($nr{kill}, -1, $sig); return }
  if ($mode eq 'subreaper') { syscall($nr{kill}, $_ + 0, $sig) for descendants(); return }
  my $killer = fork;
  die "fork: $!\n" unless defined $killer;
  if ($killer == 0) { drop(); syscall($nr{kill}, -1, $sig); exit 0 }
  $own{$killer} = 1;
  waitpid $killer, 0;
  delete $own{$killer};
}

# Finds processes of that user that are not descendants. kill cannot: its answer is the same if all refuse.
sub strangers { return 0 if $mode ne 'uid';
  for my $status (glob '/proc/[0-9]*/status') {
    open my $from, '<', $status or next;
    local $/;
    my $text = <$from>;
    return 1 if defined $text && $text !~ /^State:\s*[ZX]/m && $text =~ /^Uid:.*\b$uid\b/m;
  }
  0 }

sub reap {
  my ($code, $usage) = (pack('i', 0), "\0" x 144);
  my $pid = syscall($nr{wait4}, -1, $code, 1, $usage);
  return $pid if $pid <= 0;
  my ($us, $uu, $ss, $su, $max) = unpack 'q5', $usage;
  $cpu += ($us + $ss) * 1e6 + $uu + $su;
  $rss = $max if $max > $rss;
  ($end, $status) = (now(), unpack 'i', $code) if $pid == $main;
  $pid;
}

sub finish {
  my $until = now() + 10e9;
  for (;;) {
    kill_all(9);
    my $pid;
    1 while ($pid = reap()) > 0;
    return if $pid < 0 && !strangers();
    if (now() > $until) { $survivors = 1; return }
    select undef, undef, undef, 0.001;
  }
}

sub become_harness {
  my $none = "\0" x 8;
  call('sigprocmask', 2, $none, 0, 8);
  call('setsid');
  hide_shared_folders() if $mode eq 'pid-namespace';
  limit_processes();
  go_first();
  drop() if $mode eq 'uid';
  open STDIN, '<', '/dev/null' or die "/dev/null: $!\n";
  open STDOUT, '>', $out or die "$out: $!\n";
  open STDERR, '>', $err or die "$err: $!\n";
  chdir $cwd or die "$cwd: $!\n";
  %ENV = map { split /=/, $_, 2 } @env;
  exec { '/bin/sh' } 'sh', '-c', $command;
}

sub prepare {
  call('prctl', 4, 1, 0, 0, 0);
  enter_namespaces() if $mode eq 'pid-namespace';
  # Shared memory and message queues of its own. Where the machine refuses, they stay shared.
  syscall($nr{unshare}, 0x8000000) if $mode eq 'pid-namespace' || $mode eq 'uid';
  call('prctl', 36, 1, 0, 0, 0);
  call('prctl', 4, 0, 0, 0, 0);
}

sub work {
  ($command, $cwd, $out, $err, $most, @env) = split /\0/, shift, -1;
  my $children = pack 'Q', 1 << 16;
  call('sigprocmask', 0, $children, 0, 8);
  my $news = call('signalfd4', -1, $children, 8, 0x80000);
  open my $signals, '<&=', $news or die "signalfd: $!\n";

  $start = now();
  $main = fork;
  die "fork: $!\n" unless defined $main;
  if ($main == 0) { eval { become_harness() }; print STDERR $@ || "/bin/sh: $!\n"; exit 127 }

  my $open = '';
  vec($open, 0, 1) = 1;
  vec($open, fileno $signals, 1) = 1;
  my ($asked, $left) = (0, 1);
  # After TERM, waits for all processes of the tree, also if the first one ends before the others.
  until (defined $status && !($asked && $left)) {
    my $ready = $open;
    select($ready, undef, undef, undef) > 0 or next;
    if (vec $ready, fileno $signals, 1) { sysread $signals, my $info, 128; my $pid; 1 while ($pid = reap()) > 0; $left = $pid == 0 }
    if (vec $ready, 0, 1) {
      my $got = sysread STDIN, my $letters, 64;
      unless ($got) { finish(); exit 1 }
      $asked = 1;
      kill_all($_ eq 'k' ? 9 : 15) for split //, $letters;
    }
  }
  finish();
  syswrite STDOUT, sprintf qq({"status":%d,"wall_ns":%.0f,"cpu_us":%.0f,"max_rss_kb":%d,"survivors":%d}\n),
    $status, $end - $start, $cpu, $rss, $survivors;
}

call('prctl', 4, 0, 0, 0, 0);
exit 1 if getppid != $parent;
$parent = $$;
my ($worker, $to, $seen);
sub mounts { open my $from, '<', '/proc/self/mountinfo' or return now(); local $/; <$from> }

# Reports a failure here to the next launch, and does not retry before it.
sub begin {
  pipe my $from, $to or die "pipe: $!\n";
  $seen = mounts();
  $worker = fork;
  die "fork: $!\n" unless defined $worker;
  return if $worker;
  close $to;
  my $ready = eval { prepare(); 1 };
  my $why = $@;
  my $launch = do { local $/; <$from> };
  exit 1 unless length $launch;
  exit 0 if $ready && eval { work($launch); 1 };
  $why = $@ if $ready;
  chomp $why;
  syswrite STDOUT, "lost $why\n";
  exit 1;
}

sub end { close $to; waitpid $worker, 0; undef $worker; $? }

for (;;) {
  my $launch = take(header() + 0);
  end() if $worker && $seen ne mounts();
  begin() unless $worker;
  { local $SIG{PIPE} = 'IGNORE'; syswrite $to, $launch }
  my $how = end();
  syswrite STDOUT, "end $how\n";
  begin() if $how == 0;
}
`
