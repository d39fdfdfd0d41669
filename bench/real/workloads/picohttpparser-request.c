#include <stdio.h>
#include <string.h>
#include "picohttpparser.h"

int main(void) {
  const char *text =
      "GET /a/path/of/some/length?with=a&query=string HTTP/1.1\r\nHost: example.com\r\nAccept: */*\r\n"
      "User-Agent: a program of some kind (version 1.2.3)\r\nCookie: session=abcdefghijklmnop; theme=dark\r\n\r\n";
  unsigned answer = 0;
  for (int round = 0; round < 3000000; round++) {
    struct phr_header headers[16];
    size_t count = 16, method_length, path_length;
    const char *method, *path;
    int minor;
    int read = phr_parse_request(text, strlen(text), &method, &method_length, &path, &path_length, &minor, headers, &count, 0);
    answer = answer * 31 + (unsigned)(read + minor) + (unsigned)(count + path_length);
  }
  printf("{\"answer\": %u}\n", answer);
  return 0;
}
