use strict;
use warnings;
use lib 'lib';
use Mojo::DOM;

my $html = join '', map {qq{<p class="a$_"><b>Text $_</b><i></i></p>}} 1 .. 200;
my $dom = Mojo::DOM->new("<div>$html</div>");
my $answer = 0;
$answer += $dom->find('div > p i:empty')->size for 1 .. 30;
print qq/{"answer": $answer}\n/;
