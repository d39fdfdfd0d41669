/** Four hot loops, each in a file of its own. */
export const PARTS: Readonly<Record<string, string>> = {
  collatz: `unsigned collatz(unsigned n) { unsigned best = 0; for (unsigned i = 1; i < n; i++) { unsigned long x = i;
  unsigned c = 0; while (x != 1) { x = x & 1 ? 3 * x + 1 : x >> 1; c++; } if (c > best) best = c; } return best; }`,
  sort: `int sort(int *a, int n) { for (int i = 1; i < n; i++) { int k = a[i], j = i - 1;
  while (j >= 0 && a[j] > k) { a[j + 1] = a[j]; j--; } a[j + 1] = k; } return a[n / 2]; }`,
  words: `unsigned words(const char *s) { unsigned n = 0, in = 0, h = 2166136261u; for (; *s; s++) {
  if (*s == ' ') { if (in) n += h & 7; in = 0; h = 2166136261u; } else { in = 1; h = (h ^ (unsigned char)*s) * 16777619u; } }
  return n; }`,
  machine: `int machine(const unsigned char *p, int n) { int acc = 0, st[16] = {0}, sp = 0; for (int r = 0; r < n; r++) {
  const unsigned char *q = p; for (;;) { switch (*q++) { case 0: goto next; case 1: st[sp++ & 15] = acc; break;
  case 2: acc += st[--sp & 15]; break; case 3: acc ^= r; break; case 4: acc = acc * 5 + 1; break;
  case 5: if (acc & 1) q++; break; default: acc -= 3; } } next:; } return acc; }`,
}

/** Prints its processor time in nanoseconds. */
export const MAIN = `#include <stdio.h>
#include <stdlib.h>
#include <time.h>
unsigned collatz(unsigned); int sort(int *, int); unsigned words(const char *); int machine(const unsigned char *, int);
int main(void) { unsigned s = collatz(200000), x = 12345; static int a[3000]; static char t[200001];
for (int r = 0; r < 16; r++) { for (int i = 0; i < 3000; i++) { x = x * 1103515245 + 12345; a[i] = x >> 8; } s += sort(a, 3000); }
for (int i = 0; i < 200000; i++) { x = x * 1103515245 + 12345; t[i] = (x >> 16) % 6 == 0 ? ' ' : 'a' + (x >> 20) % 26; }
for (int r = 0; r < 80; r++) s += words(t);
unsigned char p[] = {3, 1, 4, 2, 5, 6, 4, 3, 1, 3, 2, 6, 0}; s += machine(p, 1500000);
struct timespec now; clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
printf("%ld %u\\n", now.tv_sec * 1000000000L + now.tv_nsec, s); }
`
