#include <stdio.h>
#include <stdlib.h>
#include "lz4.h"

int main(void) {
  enum { SIZE = 1 << 20 };
  char *text = malloc(SIZE), *packed = malloc(LZ4_COMPRESSBOUND(SIZE));
  unsigned state = 1, answer = 0;
  for (int at = 0, left = 0, word = 0; at < SIZE; at++, left--) {
    if (left < 0) {
      state = state * 1103515245u + 12345u;
      word = (int)(state >> 16) % 700;
      left = 3 + word % 9;
    }
    text[at] = left == 0 ? ' ' : (char)('a' + (word * 7 + left * (word % 11 + 1)) % 26);
  }
  for (int round = 0; round < 150; round++)
    answer = answer * 31 + (unsigned)LZ4_compress_default(text, packed, SIZE, LZ4_COMPRESSBOUND(SIZE));
  printf("{\"answer\": %u}\n", answer);
  return 0;
}
