use strict;
use warnings;
use lib 'lib';
use Mojo::URL;

my $answer = 0;
for my $at (1 .. 6000) {
  my $url = Mojo::URL->new("http://example.com/a b/$at/ü?x=1&y=a%20b#f$at");
  $answer += length $url->to_string;
}
print qq/{"answer": $answer}\n/;
