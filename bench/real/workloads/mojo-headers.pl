use strict;
use warnings;
use lib 'lib';
use Mojo::Headers;

my $text = join('', map {"X-Header-$_: value $_\r\n"} 1 .. 30) . "\r\n";
my $answer = 0;
for (1 .. 2500) {
  my $headers = Mojo::Headers->new->parse($text);
  $answer += length $headers->to_string;
}
print qq/{"answer": $answer}\n/;
