import type { EntryPoint } from '../findings.ts'
import type { Skeleton, SkeletonRequest } from './skeleton.ts'
import { describeEntry, renderHeadComment, renderWorkloadComment } from './words.ts'

/** One file that is C and C++ at once. */
export function buildCHarness({ name, entry, interpreter }: SkeletonRequest): Skeleton {
  const path = `bench/${name}.${interpreter === 'c++' ? 'cpp' : 'c'}`
  const program = `bench/${name}`
  return {
    files: [{ path, text: renderCSource(`./${program}`, entry) }],
    edit: path,
    command: `./${program}`,
    // The sources that the workload calls are to be added: cc -O2 -I. -o bench/speed bench/speed.c parse.c
    build: `${interpreter} -O2 -I. -o ${program} ${path}`,
    calls: describeEntry(entry),
  }
}

function renderCSource(command: string, entry: EntryPoint | null): string {
  return `${renderHeadComment('//', command)}
// Add the sources that it calls to measurement.setup, after this file.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

${renderWorkloadComment('//', 'return parse(input);', entry)}
static long workload(void) {
  static double numbers[10000];
  for (int i = 0; i < 10000; i++) numbers[i] = (double)((long)i * 7919 % 10007);
  qsort(numbers, 10000, sizeof numbers[0], ascending);
  return (long)numbers[9999];
}
// ================================

static long answer;

/* Milliseconds of that many calls. */
static double took(long calls) {
  struct timespec start, end;
  timespec_get(&start, TIME_UTC);
  for (long call = 0; call < calls; call++) answer = workload();
  timespec_get(&end, TIME_UTC);
  return (double)(end.tv_sec - start.tv_sec) * 1e3 + (double)(end.tv_nsec - start.tv_nsec) / 1e6;
}

int main(void) {
  double times[15];
  long calls = 1;
  while (took(calls) < 5) calls *= 2;
  for (int round = 0; round < 15; round++) times[round] = took(calls) / (double)calls;
  qsort(times, 15, sizeof times[0], ascending);
  printf("{\\"milliseconds\\": %.9f, \\"output_bytes\\": %ld}\\n", times[7], answer);
  return 0;
}
`
}
