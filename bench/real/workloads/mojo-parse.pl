use strict;
use warnings;
use lib 'lib';
use Mojo::DOM;

my $html = join '', map {qq{<p class="a$_">Text $_ <b>bold &amp; $_</b><br><ul><li>i<li>j</ul>}} 1 .. 300;
my $answer = 0;
$answer += length(Mojo::DOM->new("<div>$html</div>")->all_text) for 1 .. 8;
print qq/{"answer": $answer}\n/;
