# Forgets connections that conntrack would send to destinations that are gone: dumps the UDP connections of both families,
# and deletes those that match a line of the input and are not sent to an endpoint that stays. A line is an address (or *),
# a port, and the endpoints that stay as ADDRESS,PORT. Prints the number of the connections.
use strict;
use warnings;
use Socket qw(inet_ntop AF_INET AF_INET6 SOCK_RAW);
my %known;
while (my $line = <STDIN>) {
  my ($address, $port, @keep) = split ' ', $line;
  $known{"$address $port"} = { map { ($_ => 1) } @keep };
}
socket(my $netlink, 16, SOCK_RAW, 12) or die "netlink: $!\n";
bind($netlink, pack('S x2 L L', 16, 0, 0)) or die "netlink: $!\n";
my $sequence = 0;

sub ask {
  my ($type, $flags, $family, $body) = @_;
  my $data = pack('C C n', $family, 0, 0) . $body;
  my $message = pack('L S S L L', 16 + length $data, 256 | $type, $flags, ++$sequence, 0) . $data;
  defined send($netlink, $message, 0, pack('S x2 L L', 16, 0, 0)) or die "netlink: $!\n";
}

sub attributes {
  my ($data) = @_;
  my %found;
  while (length $data >= 4) {
    my ($length, $type) = unpack 'S S', $data;
    last if $length < 4;
    $found{$type & 0x3fff} = substr $data, 4, $length - 4;
    my $step = ($length + 3) & ~3;
    $data = $step < length $data ? substr($data, $step) : '';
  }
  return \%found;
}

sub attribute {
  my ($type, $data) = @_;
  return pack('S S', 4 + length $data, $type) . $data . "\0" x (-length($data) & 3);
}

sub tuple {
  my ($family, $data) = @_;
  my $tuple = attributes($data);
  my ($ip, $proto) = (attributes($tuple->{1} // ''), attributes($tuple->{2} // ''));
  my ($source, $destination) = $family == AF_INET ? ($ip->{1}, $ip->{2}) : ($ip->{3}, $ip->{4});
  return unless defined $destination && defined $proto->{1} && unpack('C', $proto->{1}) == 17;
  return { source => inet_ntop($family, $source) . ',' . unpack('n', $proto->{2}),
           address => inet_ntop($family, $destination), port => unpack('n', $proto->{3}) };
}

my @stale;
for my $family (AF_INET, AF_INET6) {
  ask(1, 0x301, $family, '');
  DUMP: while (1) {
    defined recv($netlink, my $buffer, 1 << 20, 0) or die "netlink: $!\n";
    while (length $buffer >= 16) {
      my ($length, $type) = unpack 'L S', $buffer;
      last DUMP if $type == 3 || $length < 16;
      if ($type == 2) {
        my $error = -unpack 'l', substr $buffer, 16, 4;
        if ($error) {
          $! = $error;
          die "conntrack: $!\n";
        }
        last DUMP;
      }
      my $found = attributes(substr $buffer, 20, $length - 20);
      my ($sent, $reply) = map { tuple($family, $found->{$_} // '') } 1, 2;
      if ($sent && $reply) {
        for my $key ("$sent->{address} $sent->{port}", "* $sent->{port}") {
          next if !$known{$key} || $known{$key}{$reply->{source}};
          my $body = attribute(0x8001, $found->{1});
          $body .= attribute(18, $found->{18}) if defined $found->{18};
          push @stale, [$family, $body];
          last;
        }
      }
      my $step = ($length + 3) & ~3;
      $buffer = $step < length $buffer ? substr($buffer, $step) : '';
    }
  }
}
for (@stale) {
  ask(2, 5, @$_);
  recv($netlink, my $answer, 1 << 16, 0);
}
print scalar(@stale), "\n";
