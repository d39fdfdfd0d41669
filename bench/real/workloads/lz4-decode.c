#include <stdio.h>
#include <stdlib.h>
#include "lz4.h"

int main(void) {
  enum { SIZE = 1 << 20 };
  char *text = malloc(SIZE), *packed = malloc(LZ4_COMPRESSBOUND(SIZE)), *read = malloc(SIZE);
  unsigned state = 1, answer = 0;
  for (int at = 0, left = 0, word = 0; at < SIZE; at++, left--) {
    if (left < 0) {
      state = state * 1103515245u + 12345u;
      word = (int)(state >> 16) % 700;
      left = 3 + word % 9;
    }
    text[at] = left == 0 ? ' ' : (char)('a' + (word * 7 + left * (word % 11 + 1)) % 26);
  }
  int size = LZ4_compress_default(text, packed, SIZE, LZ4_COMPRESSBOUND(SIZE));
  for (int round = 0; round < 1000; round++) {
    LZ4_decompress_safe(packed, read, size, SIZE);
    answer = answer * 31 + (unsigned char)read[round * 1000];
  }
  printf("{\"answer\": %u}\n", answer);
  return 0;
}
