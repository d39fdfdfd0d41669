import { findBenchmark, findTestTarget, listBenchNeeds } from './benchmarks.ts'
import type { HarnessTemplate, SkeletonRequest } from './harness.ts'
import {
  type Detection,
  DOTFILES,
  type FoundBenchmark,
  type FoundCommand,
  listImmutablePatterns,
  listSourceFiles,
  type ProjectFiles,
  type ProjectLocation,
  selectSourcePlaces,
} from './project.ts'

const CODE = /\.(?:c|cc|cpp|cxx|h|hh|hpp|hxx)$/
const CPP = /\.(?:cc|cpp|cxx|hh|hpp|hxx)$/
const CMAKE = 'cmake -S . -B build -DCMAKE_BUILD_TYPE=Release && cmake --build build'

/**
 * Detects C and C++ projects built with make or CMake. A package.json next to their sources serves only
 * installation.
 */
export function detectC(project: ProjectLocation): Detection | null {
  const { files } = project
  const sources = listSourceFiles(files, CODE)
  const hasMake = ['Makefile', 'makefile'].some(name => files.text(name) !== null)
  const hasCmake = files.text('CMakeLists.txt') !== null
  if (
    sources.length === 0 ||
    (!hasMake && !hasCmake && !sources.some(path => /\.(?:c|cc|cpp|cxx)$/.test(path)))
  )
    return null
  const { bench, notes } = findBenchmark(files, /\.sh$/)
  const mutable = findCSourceRoots(sources)
  return {
    manager: hasMake ? 'make' : hasCmake ? 'cmake' : null,
    setup: findCSetup(files, { hasMake, hasCmake }, bench),
    test: findCTest(files, hasCmake && !hasMake),
    bench,
    mutable,
    immutable: listImmutablePatterns(files, mutable, [DOTFILES]),
    interpreter:
      sources.some(path => CPP.test(path)) && !sources.some(path => path.endsWith('.c')) ? 'c++' : 'cc',
    weight: sources.length,
    notes,
  }
}

/** Headers are often in another directory than their sources. */
function findCSourceRoots(sources: readonly string[]): string[] {
  const homes = ['src/', 'lib/', 'source/', 'include/'].filter(home =>
    sources.some(path => path.startsWith(home)),
  )
  const top = sources.filter(path => !path.includes('/'))
  if (homes.length > 0 && !homes.every(home => home === 'include/')) return homes
  return top.length > 0 ? [...homes, ...top] : selectSourcePlaces(sources, [])
}

/** Splits a bench target: setup builds its prerequisites, and only its own commands are timed. */
function findCSetup(
  files: ProjectFiles,
  { hasMake, hasCmake }: { hasMake: boolean; hasCmake: boolean },
  bench: FoundBenchmark | null,
): FoundCommand | null {
  if (hasMake) {
    const needs = bench?.from.startsWith('target ') === true ? listBenchNeeds(files) : []
    return { command: ['make', ...needs].join(' '), from: 'Makefile' }
  }
  return hasCmake ? { command: CMAKE, from: 'CMakeLists.txt' } : null
}

function findCTest(files: ProjectFiles, isCmake: boolean): FoundCommand | null {
  const target = findTestTarget(files)
  if (target !== null || !isCmake) return target
  const declares = /\b(?:enable_testing|add_test|include\s*\(\s*CTest)\b/.test(
    files.text('CMakeLists.txt') ?? '',
  )
  const command = 'ctest --test-dir build --output-on-failure'
  return declares ? { command, from: 'CMakeLists.txt' } : null
}

// Harness

/** Renders one file that compiles as C and as C++. */
export function buildCHarness({ name, interpreter }: SkeletonRequest): HarnessTemplate {
  const path = `bench/${name}.${interpreter === 'c++' ? 'cpp' : 'c'}`
  const program = `bench/${name}`
  return {
    path,
    command: `./${program}`,
    // People add the sources that the workload calls: cc -O2 -I. -o bench/speed bench/speed.c parse.c
    build: `${interpreter} -O2 -I. -o ${program} ${path}`,
    commentSign: '//',
    exampleCall: 'return parse(input);',
    render: (head, workload) => `${head}
// Add the sources that it calls to measurement.setup, after this file.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

${workload}
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
`,
  }
}
