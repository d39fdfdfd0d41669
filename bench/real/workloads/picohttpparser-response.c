#include <stdio.h>
#include <string.h>
#include "picohttpparser.h"

int main(void) {
  const char *text = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 42\r\nServer: none\r\n\r\n";
  unsigned answer = 0;
  for (int round = 0; round < 6000000; round++) {
    struct phr_header headers[16];
    size_t count = 16, length;
    const char *message;
    int minor, status;
    int read = phr_parse_response(text, strlen(text), &minor, &status, &message, &length, headers, &count, 0);
    answer = answer * 31 + (unsigned)(read + status + minor) + (unsigned)count;
  }
  printf("{\"answer\": %u}\n", answer);
  return 0;
}
