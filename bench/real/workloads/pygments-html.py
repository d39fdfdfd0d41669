import json, os, sys, zlib
sys.path.insert(0, os.getcwd())
from pygments.formatters.html import HtmlFormatter

from pygments.token import Token

kinds = [Token.Name, Token.Operator, Token.Keyword, Token.Text, Token.Literal.Number, Token.Comment]
tokens = [(kinds[i * 7 % 6], "word " if i % 12 else "two\nlines ") for i in range(4000)]


class Sink:
    def write(self, text):
        self.crc = zlib.crc32(text.encode(), getattr(self, "crc", 0))


for _ in range(40):
    sink = Sink()
    HtmlFormatter().format(tokens, sink)
print(json.dumps({"answer": sink.crc}))
